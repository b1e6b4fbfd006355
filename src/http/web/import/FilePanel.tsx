import { useState } from "preact/hooks"
import { Check } from "../ui/Check.tsx"
import { Icon } from "../ui/Icon.tsx"
import { type Parsed, read } from "./formats.ts"

/** Bytes of a file at most: some 100,000 links. */
const bytesMax = 20 * 1024 * 1024

const parse = async (file: File, keepsKeys: boolean): Promise<Parsed> => {
  const { default: Papa } = await import("papaparse")
  const { data } = Papa.parse<Array<string>>((await file.text()).replace(/^\uFEFF/, ""), {
    skipEmptyLines: "greedy"
  })
  return read(data, keepsKeys)
}

/** Takes a CSV file, chosen or dropped. */
export const FilePanel = ({ onParsed }: { readonly onParsed: (parsed: Parsed) => void }) => {
  const [keepsKeys, setKeepsKeys] = useState(true)
  const [isOver, setIsOver] = useState(false)
  const [fault, setFault] = useState<string>()
  const take = async (file: File | undefined) => {
    if (file === undefined) return
    if (file.size > bytesMax) return setFault("This file has more than 20 MB. Please cut it into parts.")
    const parsed = await parse(file, keepsKeys)
    if (parsed.rows.length + parsed.skipped.length === 0) return setFault("There is nothing in this file.")
    setFault(undefined)
    onParsed(parsed)
    return undefined
  }
  return (
    <section class="card">
      <h2>From a file</h2>
      <p class="soft">
        A CSV export of Bitly, YOURLS, Shlink, Kutt or Linkmint, or any CSV with a column of URLs.
      </p>
      <label
        class={isOver ? "drop over" : "drop"}
        onDragOver={(event) => {
          event.preventDefault()
          setIsOver(true)
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={(event) => {
          event.preventDefault()
          setIsOver(false)
          void take(event.dataTransfer?.files[0])
        }}
      >
        <Icon name="upload" />
        <span>
          <strong>Choose a CSV file</strong> or drop it here
        </span>
        <input
          type="file"
          accept=".csv,text/csv"
          class="visually-hidden"
          onChange={({ currentTarget }) => {
            void take(currentTarget.files?.[0])
            currentTarget.value = ""
          }}
        />
      </label>
      {fault && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      <Check checked={keepsKeys} onChange={setKeepsKeys}>
        Keep their short keys as aliases
      </Check>
    </section>
  )
}
