import { Icon } from "./Icon.tsx"

interface PageButtonsProps {
  readonly back: (() => void) | undefined
  readonly forth: (() => void) | undefined
}

/** The ways to the page before and the next one, where there is one. */
export const PageButtons = ({ back, forth }: PageButtonsProps) =>
  (back ?? forth) ? (
    <nav class="pages" aria-label="Pages">
      <button type="button" class="button plain" disabled={back === undefined} onClick={back}>
        <Icon name="back" /> Back
      </button>
      <button type="button" class="button plain" disabled={forth === undefined} onClick={forth}>
        Further <Icon name="forth" />
      </button>
    </nav>
  ) : null
