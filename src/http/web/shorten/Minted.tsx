import { useEffect, useRef } from "preact/hooks"
import { nameOf } from "../api/Links.ts"
import type { Link } from "../api/Types.ts"
import { counted, fill } from "../language/fill.tsx"
import { CopyButton } from "../ui/CopyButton.tsx"
import { formatMoment, formatUrl } from "../ui/format.ts"
import { LazyQr } from "../ui/qr/LazyQr.tsx"
import { Rosette } from "../ui/Rosette.tsx"
import { words as common } from "../ui/words.ts"
import { useVisits } from "./useVisits.ts"
import { words } from "./words.ts"

const Facts = ({ link }: { readonly link: Link }) => {
  const [t, c] = [words(), common()]
  const visits = useVisits(nameOf(link), true)
  return (
    <ul class="facts">
      <li class="visits" data-testid="visits">
        {visits === undefined ? "…" : visits === "ended" ? t.ended : counted(c.visits, visits)}
      </li>
      {link.expiresAt !== null && <li>{fill(t.endsAt, { moment: formatMoment(link.expiresAt) })}</li>}
      {link.maxVisits !== null && <li>{fill(t.atMost, { visits: counted(c.visits, link.maxVisits) })}</li>}
      {link.hasPassword && <li>{t.guarded}</li>}
    </ul>
  )
}

/** A link that was just made, as a note fresh from the press. */
export const Minted = ({ link, onAnother }: { readonly link: Link; readonly onAnother: () => void }) => {
  const t = words()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [link.key])
  return (
    <section class="note minted" aria-labelledby="minted">
      <div class="note-mark">
        <Rosette seed={link.key} size={132} />
      </div>
      <div class="note-body">
        <h2 id="minted" tabIndex={-1} ref={heading}>
          {t.yours}
        </h2>
        <p class="note-link">
          <a href={link.shortUrl} target="_blank" rel="noopener" data-testid="short-url">
            <span class="note-host">{formatUrl(link.shortUrl).slice(0, -link.key.length)}</span>
            <strong>{link.key}</strong>
          </a>
        </p>
        <p class="note-target">{fill(t.leadsTo, { target: formatUrl(link.url) })}</p>
        <Facts link={link} />
        <div class="actions">
          <CopyButton text={link.shortUrl} what={common().shortLink} />
          <button type="button" class="button plain" onClick={onAnother}>
            {t.another}
          </button>
        </div>
      </div>
      <LazyQr text={link.shortUrl} name={`qr-${link.key}`} />
    </section>
  )
}
