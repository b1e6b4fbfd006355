import { Icon } from "./Icon.tsx"
import { words } from "./words.ts"

interface PageButtonsProps {
  readonly back: (() => void) | undefined
  readonly forth: (() => void) | undefined
  readonly isBackToFirst: boolean
}

/** The ways to the page before and the next one, where there is one. */
export const PageButtons = ({ back, forth, isBackToFirst }: PageButtonsProps) =>
  (back ?? forth) ? (
    <nav class="pages" aria-label={words().pages}>
      <button type="button" class="button plain" disabled={back === undefined} onClick={back}>
        <Icon name="back" /> {back !== undefined && isBackToFirst ? words().firstPage : words().back}
      </button>
      <button type="button" class="button plain" disabled={forth === undefined} onClick={forth}>
        {words().further} <Icon name="forth" />
      </button>
    </nav>
  ) : null
