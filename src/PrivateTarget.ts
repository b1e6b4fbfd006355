import ipaddr from "ipaddr.js"

/**
 * Names that never lead to the public internet: of this machine (RFC 6761), of the local network (RFC 6762, RFC 8375), kept for private use
 * (`internal`, by ICANN) or in wide use for it (RFC 6762, appendix G). Each stands for everything below it, too.
 */
const privateDomains = new Set([
  "corp",
  "home",
  "home.arpa",
  "internal",
  "intranet",
  "lan",
  "local",
  "localdomain",
  "localhost",
  "private"
])

/** The last one and the last two labels of a name: what is compared with `privateDomains`. */
const isPrivateName = (name: string): boolean => {
  const labels = name.split(".")
  // A name of one label is looked up in the search domain of whoever follows the link.
  if (labels.length === 1) return true
  return privateDomains.has(labels.at(-1)!) || privateDomains.has(labels.slice(-2).join("."))
}

/** How the WHATWG URL Standard writes addresses; each other spelling has become one of these. */
const address = /^(?:\[.*\]|\d+\.\d+\.\d+\.\d+)$/

/**
 * Whether an address, as the operating system writes it, is of any range that is not public unicast: loopback, private, link-local, unique local, carrier-grade
 * NAT, multicast, and the ranges that carry IPv4 addresses within IPv6.
 */
export const isPrivateAddress = (text: string): boolean =>
  // `process` takes an IPv4 address out of its IPv6 form (`::ffff:…`).
  !ipaddr.isValid(text) || ipaddr.process(text).range() !== "unicast"

/**
 * Whether a host, as the WHATWG URL Standard writes it, stands for this machine or a private network: a private address, or a name that is never public. Names
 * are not resolved.
 */
export const isPrivate = (host: string): boolean =>
  address.test(host)
    ? isPrivateAddress(host.replace(/[[\]]/g, ""))
    : isPrivateName(host.endsWith(".") ? host.slice(0, -1) : host)
