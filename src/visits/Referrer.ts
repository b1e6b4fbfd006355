import { isIP } from "node:net"
import { valueLengthMax } from "../model/Visit.ts"
import { parseUrl } from "../model/ParseUrl.ts"

/** Values that are not hosts. A host with such a name has no value. */
const reserved = new Set(["direct", "internal", "other", "unknown"])

const hostOf = (text: string): string | undefined => {
  const url = parseUrl(text)
  if (url === undefined) return undefined
  const host = url.hostname.toLowerCase().replace(/\.$/, "")
  // Some schemes allow any characters in hosts; and no address is stored, not even a server's.
  if (!/^[a-z0-9._-]+$/.test(host) || host.length > valueLengthMax) return undefined
  return isIP(host) === 0 && !reserved.has(host) ? host : undefined
}

/**
 * Where a visit came from: the host of its `Referer` alone, in lower case; `direct` without one, `internal` where it is the host
 * of this service, and `undefined` where it names no host.
 */
export const parse = (text: string | undefined, ownHost: string): string | undefined => {
  if (text === undefined || text === "") return "direct"
  const host = hostOf(text)
  return host === ownHost ? "internal" : host
}
