import { useState } from "preact/hooks"
import { Unreadable } from "../../../transfer/Unreadable.ts"
import { counted, fill, rich } from "../language/fill.tsx"
import { told } from "../language/told.ts"
import { formatNumber } from "../ui/format.ts"
import { Check } from "../ui/Check.tsx"
import { Icon } from "../ui/Icon.tsx"
import { memory } from "./memory.ts"
import { lookAtFile, type Source } from "./reading.ts"
import { words } from "./words.ts"

/** Bytes of a file at most: some million links. The command line has no such bound. */
const bytesMax = 256 * 1024 * 1024

const faultOf = (error: unknown): string =>
  error instanceof Unreadable
    ? fill(words().unreadable, { line: error.line, reason: told(error.reason) })
    : words().unreadableFile

/** Says that an import was cut off, and how it goes on. */
const CutOff = () => {
  const t = words()
  const [found, setFound] = useState(memory.read)
  if (found === undefined) return null
  return (
    <p class="hint" role="status">
      {fill(t.cutOff, {
        title: found.title,
        lines: counted(t.lines, found.progress.settled),
        total: formatNumber(found.total)
      })}{" "}
      <button
        type="button"
        class="quiet"
        onClick={() => {
          memory.write(undefined)
          setFound(undefined)
        }}
      >
        {t.forgetIt}
      </button>
    </p>
  )
}

/** Takes a file, chosen or dropped. */
export const FilePanel = ({ onRead }: { readonly onRead: (source: Source) => void }) => {
  const t = words()
  const [keepsKeys, setKeepsKeys] = useState(true)
  const [cutsTitles, setCutsTitles] = useState(false)
  const [isOver, setIsOver] = useState(false)
  const [isReading, setIsReading] = useState(false)
  const [fault, setFault] = useState<string>()
  const take = async (file: File | undefined) => {
    if (file === undefined) return
    if (file.size > bytesMax) return setFault(words().tooLarge)
    setFault(undefined)
    setIsReading(true)
    try {
      const source = await lookAtFile(file, { keepsKeys, cutsTitles })
      if (source.total === 0) setFault(words().empty)
      else onRead(source)
    } catch (error) {
      setFault(faultOf(error))
    }
    setIsReading(false)
    return undefined
  }
  return (
    <section class="card">
      <h2>{t.fromFile}</h2>
      <p class="soft">{t.fromFileText}</p>
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
          <span role="status">{t.reading}</span>
        ) : (
          <span>{rich(t.choose, { strong: (inner) => <strong>{inner}</strong> })}</span>
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
        {t.keepsKeys}
      </Check>
      <Check checked={cutsTitles} onChange={setCutsTitles}>
        {t.cutsTitles}
      </Check>
    </section>
  )
}
