import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks"
import { type Shape, shapes } from "../../../qr/QrDrawing.ts"
import { type Design, designedSymbol, isReadable, paint, plain, readLogo, savedSvgOf } from "./qrDesign.ts"
import { saveBlob } from "../save.ts"
import { fill } from "../../language/fill.tsx"
import { wordsOf } from "../../language/Language.ts"
import english from "../../messages/en/qr.ts"

const words = wordsOf("qr", english)

interface DesignFieldsProps {
  readonly design: Design
  readonly onChange: (change: Partial<Design>) => void
}

const DesignFields = ({ design, onChange }: DesignFieldsProps) => {
  const t = words()
  const id = useId()
  const [fault, setFault] = useState<string>()
  const take = async (file: File | undefined) => {
    const logo = file && (await readLogo(file))
    setFault(file && !logo ? words().noPicture : undefined)
    onChange({ logo })
  }
  return (
    <div class="qr-design">
      <label for={`${id}-colour`}>{t.colour}</label>
      <input
        id={`${id}-colour`}
        type="color"
        value={design.colour}
        onInput={({ currentTarget }) => onChange({ colour: currentTarget.value })}
      />
      <label for={`${id}-background`}>{t.background}</label>
      <input
        id={`${id}-background`}
        type="color"
        value={design.background}
        onInput={({ currentTarget }) => onChange({ background: currentTarget.value })}
      />
      <label for={`${id}-shape`}>{t.shape}</label>
      <select
        id={`${id}-shape`}
        value={design.shape}
        onChange={({ currentTarget }) => onChange({ shape: currentTarget.value as Shape })}
      >
        {shapes.map((shape) => (
          <option key={shape} value={shape}>
            {t[shape]}
          </option>
        ))}
      </select>
      <label for={`${id}-logo`}>{t.logo}</label>
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
          {t.unreadable}
        </p>
      )}
    </div>
  )
}

/** A short URL as a QR code, to look at, to design and to save. `name` is the files' name. */
export const Qr = ({ name, text }: { readonly text: string; readonly name: string }) => {
  const t = words()
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
      <canvas ref={canvas} role="img" aria-label={fill(t.of, { text })} />
      <figcaption>
        <button type="button" class="quiet" onClick={savePng}>
          {t.savePng}
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() =>
            saveBlob(new Blob([savedSvgOf(symbol, design)], { type: "image/svg+xml" }), `${name}.svg`)
          }
        >
          {t.saveSvg}
        </button>
        <details>
          <summary>{t.design}</summary>
          <DesignFields
            design={design}
            onChange={(change) => setDesign((before) => ({ ...before, ...change }))}
          />
        </details>
      </figcaption>
    </figure>
  )
}
