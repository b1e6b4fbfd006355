import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks"
import { type Shape, shapes } from "../../qr/QrDrawing.ts"
import {
  type Design,
  designedSymbol,
  isReadable,
  paint,
  plain,
  readLogo,
  savedSvgOf,
  shapeNames
} from "./qrDesign.ts"
import { saveBlob } from "./save.ts"

interface DesignFieldsProps {
  readonly design: Design
  readonly onChange: (change: Partial<Design>) => void
}

const DesignFields = ({ design, onChange }: DesignFieldsProps) => {
  const id = useId()
  const [fault, setFault] = useState<string>()
  const take = async (file: File | undefined) => {
    const logo = file && (await readLogo(file))
    setFault(file && !logo ? "It must be a picture of 512 kB at most: PNG, JPEG or WebP." : undefined)
    onChange({ logo })
  }
  return (
    <div class="qr-design">
      <label for={`${id}-colour`}>Colour</label>
      <input
        id={`${id}-colour`}
        type="color"
        value={design.colour}
        onInput={({ currentTarget }) => onChange({ colour: currentTarget.value })}
      />
      <label for={`${id}-background`}>Background</label>
      <input
        id={`${id}-background`}
        type="color"
        value={design.background}
        onInput={({ currentTarget }) => onChange({ background: currentTarget.value })}
      />
      <label for={`${id}-shape`}>Shape</label>
      <select
        id={`${id}-shape`}
        value={design.shape}
        onChange={({ currentTarget }) => onChange({ shape: currentTarget.value as Shape })}
      >
        {shapes.map((shape) => (
          <option key={shape} value={shape}>
            {shapeNames[shape]}
          </option>
        ))}
      </select>
      <label for={`${id}-logo`}>Logo</label>
      <input
        id={`${id}-logo`}
        type="file"
        accept="image/png,image/jpeg,image/webp"
        onChange={({ currentTarget }) => void take(currentTarget.files?.[0])}
      />
      {fault !== undefined && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      {!isReadable(design) && (
        <p class="fault" role="alert">
          Some readers will not read this. Make the colour darker, or the background lighter.
        </p>
      )}
    </div>
  )
}

/** A short URL as a QR code, to look at, to design and to save. `name` is the files' name. */
export const Qr = ({ name, text }: { readonly text: string; readonly name: string }) => {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [design, setDesign] = useState(plain)
  const symbol = useMemo(() => designedSymbol(text, design), [text, design])
  useEffect(() => paint(canvas.current!, symbol, design), [symbol])
  const savePng = () =>
    canvas.current?.toBlob((blob) => {
      if (blob !== null) saveBlob(blob, `${name}.png`)
    }, "image/png")
  return (
    <figure class="qr">
      <canvas ref={canvas} role="img" aria-label={`QR code of ${text}`} />
      <figcaption>
        <button type="button" class="quiet" onClick={savePng}>
          Save PNG
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() =>
            saveBlob(new Blob([savedSvgOf(symbol, design)], { type: "image/svg+xml" }), `${name}.svg`)
          }
        >
          Save SVG
        </button>
        <details>
          <summary>Colours, shape, logo</summary>
          <DesignFields
            design={design}
            onChange={(change) => setDesign((before) => ({ ...before, ...change }))}
          />
        </details>
      </figcaption>
    </figure>
  )
}
