import { useRef, useState } from "preact/hooks"
import { asApiError } from "../api/Client.ts"
import { Icon } from "../ui/Icon.tsx"
import { fail } from "../ui/Toasts.tsx"
import { FilePanel } from "./FilePanel.tsx"
import { type Outcome, run } from "./importing.ts"
import { memory } from "./memory.ts"
import { OutcomePanel } from "./OutcomePanel.tsx"
import { PastePanel } from "./PastePanel.tsx"
import { PreviewPanel } from "./PreviewPanel.tsx"
import type { Source } from "./reading.ts"
import { words } from "./words.ts"
import "./import.css"

/** Makes many links at once: pasted, or from a file. */
export const ImportPage = () => {
  const [source, setSource] = useState<Source>()
  const [outcome, setOutcome] = useState<Outcome>()
  const [isRunning, setIsRunning] = useState(false)
  const abort = useRef<AbortController>(null)

  const start = async (source: Source) => {
    abort.current = new AbortController()
    setIsRunning(true)
    try {
      await run(source, memory, setOutcome, abort.current.signal)
    } catch (error) {
      if (!abort.current.signal.aborted) fail(asApiError(error))
    }
    setIsRunning(false)
  }

  const reset = () => {
    setSource(undefined)
    setOutcome(undefined)
  }

  return (
    <>
      <header class="page-header">
        <h1>{words().title}</h1>
        <a class="button plain" href="/app/links">
          <Icon name="back" /> {words().links}
        </a>
      </header>
      {outcome && source ? (
        <OutcomePanel
          outcome={outcome}
          isRunning={isRunning}
          onStop={() => abort.current?.abort()}
          onReset={reset}
        />
      ) : source ? (
        <PreviewPanel source={source} onBack={reset} onStart={() => void start(source)} />
      ) : (
        <div class="import-ways">
          <FilePanel onRead={setSource} />
          <PastePanel onRead={setSource} />
        </div>
      )}
    </>
  )
}
