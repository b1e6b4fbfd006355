import { useRef, useState } from "preact/hooks"
import type { ExportFormat } from "../../../transfer/Exporting.ts"
import { asApiError } from "../api/Client.ts"
import type * as Links from "../api/Links.ts"
import { counted } from "../language/fill.tsx"
import { Icon } from "../ui/Icon.tsx"
import { fail, say } from "../ui/Toasts.tsx"
import { save } from "./exporting.ts"
import { words } from "./words.ts"

/** Saves the links of a filter as a file. */
export const ExportButtons = ({ filter }: { readonly filter: Links.Filter }) => {
  const [count, setCount] = useState<number>()
  const abort = useRef<AbortController>(null)
  const run = async (format: ExportFormat) => {
    abort.current = new AbortController()
    setCount(0)
    try {
      const saved = await save(filter, format, setCount, abort.current.signal)
      say(counted(words().saved, saved))
    } catch (error) {
      if (!abort.current.signal.aborted) fail(asApiError(error))
    }
    setCount(undefined)
  }
  if (count !== undefined) {
    return (
      <span class="exporting" role="status">
        {counted(words().read, count)}
        <button type="button" class="quiet" onClick={() => abort.current?.abort()}>
          {words().stop}
        </button>
      </span>
    )
  }
  return (
    <>
      <button type="button" class="button plain" onClick={() => void run("csv")}>
        <Icon name="download" /> CSV
      </button>
      <button type="button" class="button plain" onClick={() => void run("jsonl")}>
        <Icon name="download" /> JSON
      </button>
    </>
  )
}
