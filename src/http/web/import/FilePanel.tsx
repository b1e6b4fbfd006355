import { useState } from "preact/hooks"
import { Unreadable } from "../../../transfer/Unreadable.ts"
import { formatCount } from "../ui/format.ts"
import { Check } from "../ui/Check.tsx"
import { Icon } from "../ui/Icon.tsx"
import { memory } from "./memory.ts"
import { lookAtFile, type Source } from "./reading.ts"

/** Bytes of a file at most: some million links. The command line has no such bound. */
const bytesMax = 256 * 1024 * 1024

const faultOf = (error: unknown): string =>
  error instanceof Unreadable ? `${error.message}.` : "This file cannot be read."

/** Says that an import was cut off, and how it goes on. */
const CutOff = () => {
  const [found, setFound] = useState(memory.read)
  if (found === undefined) return null
  return (
    <p class="hint" role="status">
      An import ({found.title}) was cut off behind {formatCount(found.progress.settled, "line")} of{" "}
      {found.total.toLocaleString("en")}. Choose the same file to go on.{" "}
      <button
        type="button"
        class="quiet"
        onClick={() => {
          memory.write(undefined)
          setFound(undefined)
        }}
      >
        Forget it
      </button>
    </p>
  )
}

/** Takes a file, chosen or dropped. */
export const FilePanel = ({ onRead }: { readonly onRead: (source: Source) => void }) => {
  const [keepsKeys, setKeepsKeys] = useState(true)
  const [cutsTitles, setCutsTitles] = useState(false)
  const [isOver, setIsOver] = useState(false)
  const [isReading, setIsReading] = useState(false)
  const [fault, setFault] = useState<string>()
  const take = async (file: File | undefined) => {
    if (file === undefined) return
    if (file.size > bytesMax) return setFault("This file has more than 256 MB. Please cut it into parts.")
    setFault(undefined)
    setIsReading(true)
    try {
      const source = await lookAtFile(file, { keepsKeys, cutsTitles })
      if (source.total === 0) setFault("There is nothing in this file.")
      else onRead(source)
    } catch (error) {
      setFault(faultOf(error))
    }
    setIsReading(false)
    return undefined
  }
  return (
    <section class="card">
      <h2>From a file</h2>
      <p class="soft">
        What Kutt, YOURLS, Shlink, Bitly, Dub or Linkmint exported (CSV, JSON, SQL), or any CSV with a column
        of URLs.
      </p>
      <CutOff />
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
        {isReading ? (
          <span role="status">Reading…</span>
        ) : (
          <span>
            <strong>Choose a file</strong> or drop it here
          </span>
        )}
        <input
          type="file"
          accept=".csv,.json,.jsonl,.ndjson,.sql,.txt,text/csv,application/json"
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
      <Check checked={cutsTitles} onChange={setCutsTitles}>
        Cut titles that are too long
      </Check>
    </section>
  )
}
