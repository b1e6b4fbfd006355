import { useRef, useState } from "preact/hooks"
import { asApiError } from "../api/Client.ts"
import { Icon } from "../ui/Icon.tsx"
import { fail } from "../ui/Toasts.tsx"
import { FilePanel } from "./FilePanel.tsx"
import type { Parsed } from "./formats.ts"
import { type Outcome, run } from "./importing.ts"
import { OutcomePanel } from "./OutcomePanel.tsx"
import { PastePanel } from "./PastePanel.tsx"
import { PreviewPanel } from "./PreviewPanel.tsx"
import "./import.css"

/** Makes many links at once: pasted, or from a file. */
export const ImportPage = () => {
  const [parsed, setParsed] = useState<Parsed>()
  const [outcome, setOutcome] = useState<Outcome>()
  const [isRunning, setIsRunning] = useState(false)
  const abort = useRef<AbortController>(null)

  const start = async ({ rows }: Parsed) => {
    abort.current = new AbortController()
    setIsRunning(true)
    try {
      await run(rows, setOutcome, abort.current.signal)
    } catch (error) {
      if (!abort.current.signal.aborted) fail(asApiError(error))
    }
    setIsRunning(false)
  }

  const reset = () => {
    setParsed(undefined)
    setOutcome(undefined)
  }

  return (
    <>
      <header class="page-header">
        <h1>Add many</h1>
        <a class="button plain" href="/app/links">
          <Icon name="back" /> Links
        </a>
      </header>
      {outcome && parsed ? (
        <OutcomePanel
          outcome={outcome}
          skipped={parsed.skipped}
          isRunning={isRunning}
          onStop={() => abort.current?.abort()}
          onReset={reset}
        />
      ) : parsed ? (
        <PreviewPanel parsed={parsed} onBack={reset} onStart={() => void start(parsed)} />
      ) : (
        <div class="import-ways">
          <FilePanel onParsed={setParsed} />
          <PastePanel onParsed={setParsed} />
        </div>
      )}
    </>
  )
}
