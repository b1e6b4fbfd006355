import { counted, fill } from "../language/fill.tsx"
import { formatUrl } from "../ui/format.ts"
import { words as common } from "../ui/words.ts"
import { memory } from "./memory.ts"
import type { Source } from "./reading.ts"
import { Rejected } from "./Rejected.tsx"
import { words } from "./words.ts"

interface PreviewPanelProps {
  readonly source: Source
  readonly onBack: () => void
  readonly onStart: () => void
}

/** What would be made, before it is. */
export const PreviewPanel = ({ onBack, onStart, source }: PreviewPanelProps) => {
  const t = words()
  const { faulty, faultyCount, first, id, links, title } = source
  const before = memory.read()
  const settled = before?.id === id ? before.progress.settled : 0
  return (
    <section class="card">
      <h2>{fill(common().named, { name: title, text: counted(common().links, links) })}</h2>
      {first.length > 0 && (
        <div class="table" role="region" aria-label={t.firstLinks} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t.leadsTo}</th>
                <th scope="col">{t.alias}</th>
                <th scope="col">{t.linkTitle}</th>
                <th scope="col">{t.tags}</th>
              </tr>
            </thead>
            <tbody>
              {first.map(({ link, place }) => (
                <tr key={place}>
                  <td class="target">{formatUrl(link!.url)}</td>
                  <td class="key">{link!.alias ?? <span class="soft">{t.minted}</span>}</td>
                  <td>{link!.title}</td>
                  <td>{link!.tags?.join(", ")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {links > first.length && <p class="hint">{counted(t.others, links - first.length)}</p>}
      <Rejected lines={faulty} count={faultyCount} title={t.leftOut} />
      {settled > 0 && <p class="hint">{counted(t.done, settled)}</p>}
      <div class="actions">
        <button type="button" class="button strong" disabled={links === 0} onClick={onStart}>
          {settled > 0 ? t.goOn : counted(t.make, links)}
        </button>
        <button type="button" class="button plain" onClick={onBack}>
          {t.back}
        </button>
      </div>
    </section>
  )
}
