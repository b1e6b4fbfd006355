import { useState } from "preact/hooks"
import { nameOf } from "../api/Links.ts"
import type { Link } from "../api/Types.ts"
import { counted } from "../language/fill.tsx"
import { Icon } from "../ui/Icon.tsx"
import { archive } from "./archiving.ts"
import { removeSoon } from "./deleting.ts"
import { TagsDialog } from "./TagsDialog.tsx"
import { words } from "./words.ts"

/** Links that can be chosen at once: each takes a request. */
export const chosenMax = 200

interface SelectionProps {
  /** In the order of the list. */
  readonly links: ReadonlyArray<Link>
  readonly onClear: () => void
  readonly onChanged: (link: Link) => void
}

/** What can be done with the links that were chosen, in their order. */
export const Selection = ({ links, onChanged, onClear }: SelectionProps) => {
  const t = words()
  const [edits, setEdits] = useState(false)
  const archived = links.filter((link) => link.archived === true)
  const used = links.filter((link) => link.archived !== true)
  const toArchive = (some: ReadonlyArray<Link>, isArchived: boolean) =>
    some.length > 0 && (
      <button
        type="button"
        class="button plain small"
        onClick={() => {
          void archive(some, isArchived, onChanged)
          onClear()
        }}
      >
        <Icon name="archive" /> {isArchived ? t.archive : t.unarchive}
      </button>
    )
  return (
    <div class="selection" role="region" aria-label={t.chosenLinks}>
      <strong role="status">{counted(t.chosen, links.length)}</strong>
      <div class="actions">
        <button type="button" class="button plain small" onClick={() => setEdits(true)}>
          <Icon name="edit" /> {t.tags}
        </button>
        {toArchive(used, true)}
        {toArchive(archived, false)}
        <button
          type="button"
          class="button plain small"
          onClick={() => {
            removeSoon(links.map(nameOf))
            onClear()
          }}
        >
          <Icon name="trash" /> {t.delete}
        </button>
        <button type="button" class="quiet" onClick={onClear}>
          {t.chooseNone}
        </button>
      </div>
      {edits && <TagsDialog links={links} onChanged={onChanged} onClose={() => setEdits(false)} />}
    </div>
  )
}
