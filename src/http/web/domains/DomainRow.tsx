import type { Domain } from "../api/Types.ts"
import { domainPath } from "../app/Paths.ts"
import { counted, fill } from "../language/fill.tsx"
import { CopyButton } from "../ui/CopyButton.tsx"
import { formatDay, formatUrl } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { targetNames, words } from "./words.ts"

interface DomainRowProps {
  readonly domain: Domain
  /** What an owner is called. */
  readonly nameOf: (id: string) => string
  /** What administrators can do; missing for others. */
  readonly acts?: {
    readonly isVerifying: boolean
    readonly onVerify: () => void
    readonly onEdit: () => void
    readonly onRemove: () => void
  }
}

interface CopiedProps {
  readonly label: string
  readonly text: string
}

const Copied = ({ label, text }: CopiedProps) => (
  <div class="copied">
    <dt>{label}</dt>
    <dd>
      <code>{text}</code>
      <CopyButton text={text} what={text} isSmall />
    </dd>
  </div>
)

/** What has to be shown before the domain is used. */
const Proof = ({ proof }: { readonly proof: NonNullable<Domain["proof"]> }) => {
  const t = words()
  return (
    <div class="proof">
      <p>{t.proofTxt}</p>
      <dl>
        <Copied label={t.proofName} text={proof.txt.name} />
        <Copied label={t.proofValue} text={proof.txt.value} />
      </dl>
      <p>{t.proofFile}</p>
      <dl>
        <Copied label={t.proofUrl} text={proof.file.url} />
        <Copied label={t.proofContent} text={proof.file.content} />
      </dl>
    </div>
  )
}

/** A domain in a list, and what can be done with it. */
export const DomainRow = ({ acts, domain, nameOf }: DomainRowProps) => {
  const t = words()
  const { createdAt, host, ignoresCase, owners, proof, targets, verifiedAt } = domain
  const given = targetNames.flatMap((name) => {
    const url = targets[name]
    return url === null ? [] : [{ name, url }]
  })
  return (
    <li class="domain-row" data-host={host}>
      <div class="domain">
        <strong>{host}</strong>
        <div class="marks">
          <span class={verifiedAt === null ? "mark end" : "good"}>
            {verifiedAt === null ? t.unverified : fill(t.verified, { day: formatDay(verifiedAt) })}
          </span>
          <span>{fill(t.added, { day: formatDay(createdAt) })}</span>
          <span>
            {owners === null
              ? t.forEverybody
              : owners.length === 0
                ? t.forNobody
                : owners.length > 3
                  ? counted(t.forSome, owners.length)
                  : fill(t.forThese, { owners: owners.map(nameOf).join(", ") })}
          </span>
          {ignoresCase && <span>{t.ignoring}</span>}
        </div>
        {given.length > 0 && (
          <dl class="targets">
            {given.map(({ name, url }) => (
              <div key={name}>
                <dt>{t[name]}</dt>
                <dd>
                  <a class="target" href={url} target="_blank" rel="noopener noreferrer">
                    {formatUrl(url)}
                  </a>
                </dd>
              </div>
            ))}
          </dl>
        )}
        {verifiedAt === null && proof && <Proof proof={proof} />}
      </div>
      {acts && (
        <div class="actions">
          {verifiedAt === null && (
            <button
              type="button"
              class="button"
              disabled={acts.isVerifying}
              aria-label={fill(t.verifyOf, { host })}
              onClick={acts.onVerify}
            >
              {acts.isVerifying ? t.verifying : t.verify}
            </button>
          )}
          <a class="button plain" href={domainPath(host)} aria-label={fill(t.lostOf, { host })}>
            <Icon name="chart" /> {t.lost}
          </a>
          <button
            type="button"
            class="button plain"
            aria-label={fill(t.editOf, { host })}
            onClick={acts.onEdit}
          >
            <Icon name="edit" /> {t.edit}
          </button>
          <button
            type="button"
            class="button plain"
            aria-label={fill(t.removeOf, { host })}
            onClick={acts.onRemove}
          >
            <Icon name="trash" /> {t.remove}
          </button>
        </div>
      )}
    </li>
  )
}
