import { Icon } from "./Icon.tsx"

interface PageButtonsProps {
  readonly back: (() => void) | undefined
  readonly forth: (() => void) | undefined
  readonly isBackToFirst: boolean
}

/** The ways to the page before and the next one, where there is one. */
export const PageButtons = ({ back, forth, isBackToFirst }: PageButtonsProps) =>
  (back ?? forth) ? (
    <nav class="pages" aria-label="Pages">
      <button type="button" class="button plain" disabled={back === undefined} onClick={back}>
        <Icon name="back" /> {back !== undefined && isBackToFirst ? "First page" : "Back"}
      </button>
      <button type="button" class="button plain" disabled={forth === undefined} onClick={forth}>
        Further <Icon name="forth" />
      </button>
    </nav>
  ) : null
