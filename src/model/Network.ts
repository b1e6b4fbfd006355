import { isIP } from "node:net"
import { Either } from "effect"
import ipaddr from "ipaddr.js"

/** An IP address; IPv4 in IPv6 is IPv4. */
export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** An address, and how many of its first bits are the prefix of the network. */
export type Network = readonly [Address, number]

/** Networks in one setting at most. */
const networksMax = 256

/** Parses an IP address in its usual spellings; `undefined` for anything else. */
export const parseAddress = (text: string): Address | undefined =>
  isIP(text) === 0 ? undefined : ipaddr.process(text)

/** A host as the WHATWG URL Standard writes it, with IPv4 in IPv6 (`[::ffff:c000:207]`) as IPv4 (`192.0.2.7`): both lead to the same machine. */
export const hostOverIPv4 = (host: string): string => {
  if (!host.startsWith("[::ffff:")) return host
  const address = parseAddress(host.slice(1, -1))
  return address instanceof ipaddr.IPv4 ? address.toString() : host
}

/** Parses an address, or a network in CIDR notation; `undefined` for anything else. */
export const parse = (text: string): Network | undefined => {
  const [address = "", prefix, ...rest] = text.split("/")
  const parsed = parseAddress(address)
  if (parsed === undefined || rest.length > 0) return undefined
  const bits = parsed.kind() === "ipv4" ? 32 : 128
  if (prefix === undefined) return [parsed, bits]
  const length = /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN
  return length <= bits ? [parsed, length] : undefined
}

/** Parses addresses and networks in CIDR notation, separated by commas; gives the fault as text where one is neither. */
export const parseAll = (text: string): Either.Either<ReadonlyArray<Network>, string> => {
  const names = text.split(",").map((name) => name.trim())
  const networks = names.map(parse)
  const faulty = networks.indexOf(undefined)
  if (faulty !== -1) {
    return Either.left(
      `must be IP addresses and networks such as 10.0.0.0/8, separated by commas, not "${names[faulty]}"`
    )
  }
  return names.length > networksMax
    ? Either.left(`must name ${networksMax} networks at most`)
    : Either.right(networks as ReadonlyArray<Network>)
}

/** Whether an address lies in one of the networks. */
export const contains = (networks: ReadonlyArray<Network>, address: Address): boolean =>
  networks.some(([network, prefix]) =>
    address instanceof ipaddr.IPv4
      ? network instanceof ipaddr.IPv4 && address.match(network, prefix)
      : network instanceof ipaddr.IPv6 && address.match(network, prefix)
  )
