import { Either } from "effect"
import ipaddr from "ipaddr.js"
import { type Address, contains, parseAddress, parseAll } from "./Network.ts"

/**
 * Names that the public DNS does not have, each with everything below it: of this machine and for tests (RFC 6761), of the local network (RFC 6762 and its appendix G,
 * RFC 8375), of the infrastructure (`arpa`), never delegated (`corp`, `home`, `mail`, `internal`: ICANN), of Kubernetes, Consul and Docker, and in wide use in private
 * networks. The last ones are public names that clouds resolve only for their own machines.
 */
const privateDomains = new Set([
  "arpa",
  "consul",
  "corp",
  "docker",
  "home",
  "internal",
  "intranet",
  "lan",
  "local",
  "localdomain",
  "localhost",
  "mail",
  "private",
  "svc",
  "test",
  "workgroup",

  "internal.cloudapp.net",
  "metadata.goog",
  "mshome.net"
])

const isPrivateName = (name: string): boolean => {
  const labels = name.split(".")
  // A name of one label is looked up in the client's search domain; one with an empty label cannot be looked up.
  if (labels.length === 1 || labels.includes("")) return true
  return labels.some((_, index) => privateDomains.has(labels.slice(index).join(".")))
}

const networks = (...texts: ReadonlyArray<string>) => Either.getOrThrow(parseAll(texts.join(",")))

/**
 * IPv4 that is not public: IANA's IPv4 Special-Purpose Address Registry, multicast and reserved addresses, as of 2025. Some of it is reachable from everywhere (AS112, AMT), but
 * has no web servers. It includes the metadata services of clouds, except the last address: the platform of every machine at Azure.
 */
const special4 = networks(
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "168.63.129.16"
)

/** IPv6 that IANA gives out as global unicast. All else is not public: IPv4-compatible and IPv4-translated addresses, unique local ones, multicast and so on. */
const global6 = networks("2000::/3")

/** What is not public of that: IANA's IPv6 Special-Purpose Address Registry as of 2025 (Teredo among the protocols of `2001::/23`, 6to4, AS112, documentation). */
const special6 = networks("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")

/** Networks that reach IPv4 through IPv6 write its addresses into the last 32 bits of this prefix (NAT64, RFC 6052). */
const translated = networks("64:ff9b::/96")

const isPublic = (address: Address): boolean => {
  if (address instanceof ipaddr.IPv4) return !contains(special4, address)
  if (contains(translated, address)) return isPublic(new ipaddr.IPv4(address.toByteArray().slice(-4)))
  return contains(global6, address) && !contains(special6, address)
}

/** How the WHATWG URL Standard writes addresses; it normalizes other spellings to these. */
const addressShape = /^(?:\[.*\]|\d+\.\d+\.\d+\.\d+)$/

/** Whether an address, as the operating system writes it, is not public. IPv4 within IPv6 (`::ffff:…`, `64:ff9b::…`) counts as IPv4. */
export const isPrivateAddress = (text: string): boolean => {
  const address = parseAddress(text)
  return address === undefined || !isPublic(address)
}

const withoutDot = (host: string) => (host.endsWith(".") ? host.slice(0, -1) : host)

/**
 * Whether a host, as the WHATWG URL Standard writes it, is this machine or in a private network: an address that is not public, or a name that is never public. Names
 * are not resolved.
 */
export const isPrivate = (host: string): boolean =>
  addressShape.test(host) ? isPrivateAddress(host.replace(/[[\]]/g, "")) : isPrivateName(withoutDot(host))
