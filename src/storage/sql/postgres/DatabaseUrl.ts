import { Either } from "effect"
import { parseUrl } from "../../../model/ParseUrl.ts"

/** Which sessions are wanted. Only the primary's are of use here, and each is asked whether it is one. */
const wanted = new Set(["any", "primary", "read-write"])

/** Hosts that a URL may name, at most. */
export const hostsMax = 8

const shape = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)(\/[^?#,]*)?(?:\?([^#]*))?$/

/**
 * The servers that `text` names, as one URL each, in their order: `postgres://user:password@a:5432,b:5433/linkmint?target_session_attrs=primary`, as libpq writes it. `pg` 8
 * understands neither several hosts nor `target_session_attrs`. Left: what is wrong with it, without the URL, which can hold a password.
 */
export const parse = (text: string): Either.Either<ReadonlyArray<string>, string> => {
  const parts = shape.exec(text)
  if (parts === null) return Either.left("must be a postgres:// URL")
  const [, start = "", authority = "", path = "", search = ""] = parts
  const parameters = new URLSearchParams(search)
  const attributes = parameters.get("target_session_attrs")
  if (attributes !== null && !wanted.has(attributes)) {
    return Either.left(
      `must have a target_session_attrs of ${[...wanted].join(", ")}, since only the primary can be worked on`
    )
  }
  parameters.delete("target_session_attrs")
  const query = parameters.size === 0 ? "" : `?${parameters}`
  const hosts = authority.split(",")
  if (hosts.length > hostsMax) return Either.left(`must name ${hostsMax} hosts at most`)
  if (hosts.length > 1 && hosts.includes("")) return Either.left("must name each host, between commas")
  const urls = hosts.map((host) => `${start}${host}${path}${query}`)
  return urls.every((url) => parseUrl(url) !== undefined)
    ? Either.right(urls)
    : Either.left("must be a postgres:// URL, of one host or several with commas between them")
}
