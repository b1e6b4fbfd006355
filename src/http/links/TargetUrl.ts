import { domainToASCII } from "node:url"
import { Data, Either } from "effect"
import { targetLengthMax } from "./TargetLength.ts"
import { hostOverIPv4 } from "../../model/Network.ts"
import { parseUrl } from "../../model/ParseUrl.ts"
import type { Message } from "../../model/Messages.ts"

/** The text is not a URL that a link can lead to; `fault` says why. */
export class InvalidTarget extends Data.TaggedError("InvalidTarget")<{ readonly fault: Message }> {}

/** The URL leads to this service itself, so that a redirect could go in circles. */
export class OwnTarget extends Data.TaggedError("OwnTarget")<{ readonly host: string }> {}

/** Where this service is reached. */
export interface OwnAddress {
  readonly baseUrl: URL
  readonly port: number
  /** Where a client reaches it, see {@link reachedBy}: it can have more names than its operator configured. */
  readonly reachedAt?: URL | undefined
}

/** The host that was seen last: mostly all clients name the same. */
let latest: { readonly host: string; readonly reachedAt: URL | undefined } | undefined

/** Where a request's `Host` says that this service is reached. */
export const reachedBy = (host = ""): URL | undefined => {
  if (latest?.host !== host) latest = { host, reachedAt: parseUrl(`http://${host}`) }
  return latest.reachedAt
}

// White space of any script and control characters (C0, DEL, C1): `URL` would drop or encode some of them silently.
// oxlint-disable-next-line eslint/no-control-regex
const forbidden = /[\s\u0000-\u0020\u007f-\u00a0]/

/** A label of a host name after RFC 1123, and with underscores, which many hosts have. */
const label = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/

const isHostName = (host: string): boolean => {
  const name = host.endsWith(".") ? host.slice(0, -1) : host
  return name.length <= 253 && name.split(".").every((part) => label.test(part))
}

/** Whether a host, as the WHATWG URL Standard writes it, is an address or a name that DNS can have. */
export const isValidHost = (host: string): boolean =>
  host.startsWith("[") ? true : isHostName(host) && domainToASCII(host) === host

const portOf = (url: URL): number => Number(url.port || (url.protocol === "https:" ? 443 : 80))

/**
 * The common case: a URL that the URL Standard leaves as it is, whose host is a name below a domain of letters and at its default port. What this does not accept is parsed; `fuzz/Urls.ts`
 * compares the two. Left to the parser: hosts in Punycode and above 63 characters, and paths with segments that begin with a dot.
 */
const plainUrl =
  /^https?:\/\/(?=[a-z0-9.-]{1,63}\/)(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]+(?:\/(?!\.|%2[Ee])[\w~!$&'()*+,;=:@%.-]*)+(?:\?[\w~!$&()*+,;=:@%/?.-]*)?(?:#[\w~!$&'()*+,;=:@%/?.-]*)?$/

/** Whether a text is plainly a URL that is stored as it is; `false` says nothing. */
export const isPlain = (text: string): boolean => plainUrl.test(text)

/** This machine by address, in the one spelling that {@link spelling} gives each: also "any" address, which connects to it. */
const loopbackAddress = /^(0\.0\.0\.0|127(\.\d+){3}|\[::1?\])$/

const isLoopback = (host: string): boolean =>
  host === "localhost" || host.endsWith(".localhost") || loopbackAddress.test(host)

/** The one spelling of a host that `URL` may write in two ways. */
const spelling = (host: string) => (host.endsWith(".") ? host.slice(0, -1) : hostOverIPv4(host))

/** Whether a URL's host and port are those at which a client reaches this service. */
const isReached = (host: string, urlPort: number, { port, reachedAt }: OwnAddress): boolean => {
  if (reachedAt === undefined) return false
  if (host !== spelling(reachedAt.hostname)) return false
  // Without a port it can be either protocol's: what is in front of this service knows.
  const ports = reachedAt.port === "" ? [80, 443, port] : [portOf(reachedAt), port]
  return ports.includes(urlPort)
}

/** Whether a URL with this host and port comes back to this service: by its public name, by the name that the client uses, or by this machine's own port. */
const isOwn = (hostname: string, port: number, own: OwnAddress): boolean => {
  const host = spelling(hostname)
  const ownHost = spelling(own.baseUrl.hostname)
  if (isLoopback(host)) {
    return port === own.port || (isLoopback(ownHost) && port === portOf(own.baseUrl))
  }
  // A public name is ours on the default ports as well, since http and https of one name lead to the same place, and on the port that is
  // behind them.
  const isPublic = host === ownHost && [portOf(own.baseUrl), 80, 443, own.port].includes(port)
  return isPublic || isReached(host, port, own)
}

/** {@link parse} of any text. */
export const parseAny = (text: string, own: OwnAddress): Either.Either<string, InvalidTarget | OwnTarget> => {
  const invalid = (fault: Message) => Either.left(new InvalidTarget({ fault }))
  if (text.length === 0) return invalid("must not be empty")
  if (text.length > targetLengthMax) return invalid(`must have at most ${targetLengthMax} characters`)
  if (forbidden.test(text) || !text.isWellFormed())
    return invalid("must not contain white space, control characters or broken Unicode")
  if (!/^https?:\/\/[^/\\]/i.test(text)) return invalid("must start with http:// or https:// and a host")
  const url = parseUrl(text)
  if (url === undefined) return invalid("is not a valid URL")
  if (url.username !== "" || url.password !== "") return invalid("must not contain a user name or password")
  if (portOf(url) === 0) return invalid("must have a port from 1 to 65535")
  if (!isValidHost(url.hostname)) return invalid("must name a valid host")
  if (url.href.length > targetLengthMax) {
    return invalid(`must have at most ${targetLengthMax} characters when it is percent-encoded`)
  }
  return isOwn(url.hostname, portOf(url), own)
    ? Either.left(new OwnTarget({ host: url.host }))
    : Either.right(url.href)
}

/**
 * Checks a target URL and gives it as it is stored: as the WHATWG URL Standard serialises it, in ASCII, with an international
 * host name in its Punycode form. Only http and https, at most 2,048 characters before and after, with a valid host, without credentials,
 * white space or control characters.
 */
export const parse = (text: string, own: OwnAddress): Either.Either<string, InvalidTarget | OwnTarget> => {
  if (text.length > targetLengthMax || !isPlain(text)) return parseAny(text, own)
  const isSecure = text.startsWith("https:")
  const host = text.slice(isSecure ? 8 : 7, text.indexOf("/", 8))
  return isOwn(host, isSecure ? 443 : 80, own) ? Either.left(new OwnTarget({ host })) : Either.right(text)
}
