import { formatCount, formatUrl } from "../ui/format.ts"
import type { Parsed } from "./formats.ts"
import { Rejected } from "./Rejected.tsx"

const shownMax = 8

interface PreviewPanelProps {
  readonly parsed: Parsed
  readonly onBack: () => void
  readonly onStart: () => void
}

/** What would be made, before it is. */
export const PreviewPanel = ({ onBack, onStart, parsed: { rows, skipped, source } }: PreviewPanelProps) => (
  <section class="card">
    <h2>
      {source}: {formatCount(rows.length, "link")}
    </h2>
    {rows.length > 0 && (
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
            {rows.slice(0, shownMax).map(({ line, link }) => (
              <tr key={line}>
                <td class="target">{formatUrl(link.url)}</td>
                <td class="key">{link.alias ?? <span class="soft">minted</span>}</td>
                <td>{link.title}</td>
                <td>{link.tags?.join(", ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    )}
    {rows.length > shownMax && <p class="hint">And {formatCount(rows.length - shownMax, "other")}.</p>}
    <Rejected lines={skipped} title="will be left out" />
    <div class="actions">
      <button type="button" class="button strong" disabled={rows.length === 0} onClick={onStart}>
        Make {formatCount(rows.length, "link")}
      </button>
      <button type="button" class="button plain" onClick={onBack}>
        Back
      </button>
    </div>
  </section>
)
