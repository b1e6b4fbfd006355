import { formatCount, formatUrl } from "../ui/format.ts"
import { memory } from "./memory.ts"
import type { Source } from "./reading.ts"
import { Rejected } from "./Rejected.tsx"

interface PreviewPanelProps {
  readonly source: Source
  readonly onBack: () => void
  readonly onStart: () => void
}

/** What would be made, before it is. */
export const PreviewPanel = ({ onBack, onStart, source }: PreviewPanelProps) => {
  const { faulty, faultyCount, first, id, links, title } = source
  const before = memory.read()
  const settled = before?.id === id ? before.progress.settled : 0
  return (
    <section class="card">
      <h2>
        {title}: {formatCount(links, "link")}
      </h2>
      {first.length > 0 && (
        <div class="table" role="region" aria-label="The first links" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Leads to</th>
                <th scope="col">Alias</th>
                <th scope="col">Title</th>
                <th scope="col">Tags</th>
              </tr>
            </thead>
            <tbody>
              {first.map(({ link, place }) => (
                <tr key={place}>
                  <td class="target">{formatUrl(link!.url)}</td>
                  <td class="key">{link!.alias ?? <span class="soft">minted</span>}</td>
                  <td>{link!.title}</td>
                  <td>{link!.tags?.join(", ")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {links > first.length && <p class="hint">And {formatCount(links - first.length, "other")}.</p>}
      <Rejected lines={faulty} count={faultyCount} title="will be left out" />
      {settled > 0 && (
        <p class="hint">
          {formatCount(settled, "line")} {settled === 1 ? "is" : "are"} done from before. It goes on behind{" "}
          {settled === 1 ? "it" : "them"}.
        </p>
      )}
      <div class="actions">
        <button type="button" class="button strong" disabled={links === 0} onClick={onStart}>
          {settled > 0 ? "Go on" : `Make ${formatCount(links, "link")}`}
        </button>
        <button type="button" class="button plain" onClick={onBack}>
          Back
        </button>
      </div>
    </section>
  )
}
