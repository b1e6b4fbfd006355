import { nameOf } from "../api/Links.ts"
import type { Link } from "../api/Types.ts"
import { statsPath } from "../app/Paths.ts"
import { counted, fill, rich } from "../language/fill.tsx"
import { CopyButton } from "../ui/CopyButton.tsx"
import { formatDay, formatMoment, formatNumber, formatUrl } from "../ui/format.ts"
import { Icon, type IconName } from "../ui/Icon.tsx"
import { Rosette } from "../ui/Rosette.tsx"
import { words as common } from "../ui/words.ts"
import { words } from "./words.ts"

interface Mark {
  readonly icon: IconName
  readonly text: string
  readonly isEnd?: boolean
}

/** What is special about a link. */
const marksOf = (link: Link): ReadonlyArray<Mark> => {
  const t = words()
  const now = new Date().toISOString()
  const marks: Array<Mark> = []
  if (link.expiresAt !== null) {
    const hasEnded = link.expiresAt <= now
    marks.push({
      icon: "clock",
      text: fill(hasEnded ? t.ended : t.ends, { day: formatDay(link.expiresAt) }),
      isEnd: hasEnded
    })
  }
  if (link.validSince !== null && link.validSince > now) {
    marks.push({ icon: "clock", text: fill(t.from, { moment: formatMoment(link.validSince) }) })
  }
  if (link.maxVisits !== null) {
    marks.push({ icon: "eye", text: fill(t.atMost, { count: formatNumber(link.maxVisits) }) })
  }
  if (link.archived === true) marks.push({ icon: "archive", text: t.archived })
  if (link.hasPassword) marks.push({ icon: "lock", text: t.password })
  return marks
}

interface LinkRowProps {
  readonly link: Link
  readonly visits: Link["visits"]
  readonly isChosen: boolean
  readonly onChoose: (isChosen: boolean) => void
  readonly onTag: (tag: string) => void
  readonly onEdit: () => void
  readonly onQr: () => void
  readonly onArchive: () => void
  readonly onDelete: () => void
}

/** A link in a list, and what can be done with it. */
export const LinkRow = (props: LinkRowProps) => {
  const t = words()
  const { isChosen, link, onArchive, onChoose, onDelete, onEdit, onQr, onTag, visits } = props
  const isArchived = link.archived === true
  const total = visits.total + (link.importedVisits?.total ?? 0)
  return (
    <li class="link-row" data-key={link.key}>
      <label class="choose">
        <input
          type="checkbox"
          aria-label={fill(t.choose, { key: link.key })}
          checked={isChosen}
          onChange={({ currentTarget }) => onChoose(currentTarget.checked)}
        />
      </label>
      <Rosette seed={link.key} size={44} />
      <div class="link-text">
        <div class="link-head">
          <a class="key" href={link.shortUrl} target="_blank" rel="noopener">
            {link.key}
          </a>
          <CopyButton text={link.shortUrl} what={fill(common().shortLinkOf, { key: link.key })} isSmall />
          {link.title !== null && <span class="title">{link.title}</span>}
        </div>
        <a class="target" href={link.url} target="_blank" rel="noopener noreferrer" title={link.url}>
          {formatUrl(link.url)}
        </a>
        <div class="marks">
          {link.domain !== undefined && <span class="mark">{link.domain}</span>}
          <span>{formatDay(link.createdAt)}</span>
          {marksOf(link).map(({ icon, isEnd = false, text }) => (
            <span key={text} class={isEnd ? "mark end" : "mark"}>
              <Icon name={icon} />
              {text}
            </span>
          ))}
          {link.tags.map((tag) => (
            <button
              key={tag}
              type="button"
              class="tag"
              aria-label={fill(t.onlyTag, { tag })}
              onClick={() => onTag(tag)}
            >
              {tag}
            </button>
          ))}
        </div>
      </div>
      <a class="visits" href={statsPath(nameOf(link))}>
        {rich(counted(t.visits, total), {
          number: (inner) => <strong>{visits.unavailable === true ? "–" : inner}</strong>,
          word: (inner) => <span>{inner}</span>
        })}
        <span class="visually-hidden">{fill(t.statisticsOf, { key: link.key })}</span>
      </a>
      <div class="link-actions">
        <button
          type="button"
          class="icon-button"
          aria-label={fill(t.qrOf, { key: link.key })}
          title={t.qr}
          onClick={onQr}
        >
          <Icon name="qr" />
        </button>
        <button
          type="button"
          class="icon-button"
          aria-label={fill(t.editOf, { key: link.key })}
          title={t.edit}
          onClick={onEdit}
        >
          <Icon name="edit" />
        </button>
        <button
          type="button"
          class="icon-button"
          aria-label={fill(isArchived ? t.unarchiveOf : t.archiveOf, { key: link.key })}
          title={isArchived ? t.unarchive : t.archive}
          onClick={onArchive}
        >
          <Icon name="archive" />
        </button>
        <button
          type="button"
          class="icon-button"
          aria-label={fill(t.deleteOf, { key: link.key })}
          title={t.delete}
          onClick={onDelete}
        >
          <Icon name="trash" />
        </button>
      </div>
    </li>
  )
}
