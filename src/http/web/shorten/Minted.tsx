import { useEffect, useRef } from "preact/hooks"
import { nameOf } from "../api/Links.ts"
import type { Link } from "../api/Types.ts"
import { CopyButton } from "../ui/CopyButton.tsx"
import { formatCount, formatMoment, formatUrl } from "../ui/format.ts"
import { LazyQr } from "../ui/LazyQr.tsx"
import { Rosette } from "../ui/Rosette.tsx"
import { useVisits } from "./useVisits.ts"

const Facts = ({ link }: { readonly link: Link }) => {
  const visits = useVisits(nameOf(link), true)
  return (
    <ul class="facts">
      <li class="visits" data-testid="visits">
        {visits === undefined ? "…" : visits === "ended" ? "Ended" : formatCount(visits, "visit")}
      </li>
      {link.expiresAt !== null && <li>Ends {formatMoment(link.expiresAt)}</li>}
      {link.maxVisits !== null && <li>At most {formatCount(link.maxVisits, "visit")}</li>}
      {link.hasPassword && <li>Guarded by a password</li>}
    </ul>
  )
}

/** A link that was just made, as a note fresh from the press. */
export const Minted = ({ link, onAnother }: { readonly link: Link; readonly onAnother: () => void }) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [link.key])
  return (
    <section class="note minted" aria-labelledby="minted">
      <div class="note-mark">
        <Rosette seed={link.key} size={132} />
      </div>
      <div class="note-body">
        <h2 id="minted" tabIndex={-1} ref={heading}>
          Your short link
        </h2>
        <p class="note-link">
          <a href={link.shortUrl} target="_blank" rel="noopener" data-testid="short-url">
            <span class="note-host">{formatUrl(link.shortUrl).slice(0, -link.key.length)}</span>
            <strong>{link.key}</strong>
          </a>
        </p>
        <p class="note-target">leads to {formatUrl(link.url)}</p>
        <Facts link={link} />
        <div class="actions">
          <CopyButton text={link.shortUrl} what="the short link" />
          <button type="button" class="button plain" onClick={onAnother}>
            Shorten another
          </button>
        </div>
      </div>
      <LazyQr text={link.shortUrl} name={`qr-${link.key}`} />
    </section>
  )
}
