import QRCode from "qrcode"
import { useMemo } from "preact/hooks"
import { saveBlob } from "./save.ts"

/** Light modules around the symbol (ISO/IEC 18004, section 6.3.8). */
const quietZone = 4

/** Pixels of a picture that is saved. */
const savedSize = 1_024

/** The dark modules of a text's symbol as one path, and its width in modules. Drawn here, so that links without an owner have theirs, too. */
const symbolOf = (text: string) => {
  const { data, size } = QRCode.create(text, { errorCorrectionLevel: "M" }).modules
  let path = ""
  data.forEach((dark, index) => {
    if (dark) path += `M${(index % size) + quietZone} ${Math.floor(index / size) + quietZone}h1v1h-1z`
  })
  return { path, width: size + 2 * quietZone }
}

const svgOf = (path: string, width: number) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${width}" width="${savedSize}" height="${savedSize}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${width}v${width}H0z"/><path d="${path}"/></svg>`

const savePng = (path: string, width: number, name: string) => {
  const canvas = document.createElement("canvas")
  // Whole pixels a module, so that edges are sharp.
  const scale = Math.ceil(savedSize / width)
  canvas.width = canvas.height = width * scale
  const context = canvas.getContext("2d")!
  context.fillStyle = "#fff"
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.scale(scale, scale)
  context.fillStyle = "#000"
  // oxlint-disable-next-line unicorn/no-array-fill-with-reference-type -- It is a canvas, and no array.
  context.fill(new Path2D(path))
  canvas.toBlob((blob) => {
    if (blob !== null) saveBlob(blob, `${name}.png`)
  }, "image/png")
}

/** A short URL as a QR code, to look at and to save. `name` is the files' name. */
export const Qr = ({ name, text }: { readonly text: string; readonly name: string }) => {
  const { path, width } = useMemo(() => symbolOf(text), [text])
  return (
    <figure class="qr">
      <svg
        viewBox={`0 0 ${width} ${width}`}
        role="img"
        aria-label={`QR code of ${text}`}
        shape-rendering="crispEdges"
      >
        <path d={path} />
      </svg>
      <figcaption>
        <button type="button" class="quiet" onClick={() => savePng(path, width, name)}>
          Save PNG
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() => saveBlob(new Blob([svgOf(path, width)], { type: "image/svg+xml" }), `${name}.svg`)}
        >
          Save SVG
        </button>
      </figcaption>
    </figure>
  )
}
