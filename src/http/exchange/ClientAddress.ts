import { Context, Effect, Layer, Option, Runtime } from "effect"
import ipaddr from "ipaddr.js"
import { LRUCache } from "lru-cache"
import type { Client } from "../../accounts/Quotas.ts"
import { atMost } from "../../fibers/LruCacheOptions.ts"
import { type Address, contains, type Network, parseAddress } from "../../model/Network.ts"
import type { Request } from "./Request.ts"

/** What is looked at of a request. */
type Source = Pick<Request, "headers" | "remoteAddress">

/** Addresses that are looked at of an `X-Forwarded-For` at most, from its end. */
const hopsMax = 16

/** The service behind {@link ClientAddress}. */
export interface ClientAddressService {
  /**
   * The client's address, IPv6 as RFC 5952 writes it and IPv4 in IPv6 as IPv4; `null` where the connection has none any more. It is the first from
   * the right in `X-Forwarded-For`, the connection's own address at the end included, that is no trusted proxy's.
   */
  readonly of: (request: Source) => string | null
  /** The same, parsed. */
  readonly parsedOf: (request: Source) => Address | null
  /**
   * Whom to count a request for: the client's address; of IPv6 the /64 that it is in, since one client has all of that, and the /48 around that, which one site may have (RFC 6177, section 2).
   * `null` for this machine itself, which may be a proxy that nobody has said to trust: all its clients would be counted as one. A proxy that is trusted and names no client is the client.
   */
  readonly clientOf: (request: Source) => Client | null
  /** Whether a request came by a trusted proxy, so that what else it says in headers can be believed. */
  readonly isByProxy: (request: Source) => boolean
}

/**
 * Where requests come from. Behind a reverse proxy that is what the proxy says in `X-Forwarded-For`, which is only believed of those that
 * `TRUSTED_PROXIES` names: anybody can send the header.
 *
 * By default no proxy is trusted.
 */
export class ClientAddress extends Context.Reference<ClientAddress>()("linkmint/ClientAddress", {
  defaultValue: (): ClientAddressService => make([])
}) {}

const textOf = (address: Address) =>
  address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString()

const networkOf = (address: ipaddr.IPv6, parts: 3 | 4) => {
  const zeros = Array.from({ length: 8 - parts }, () => 0)
  return `${new ipaddr.IPv6([...address.parts.slice(0, parts), ...zeros]).toRFC5952String()}/${16 * parts}`
}

const groupsOf = (address: Address): Client =>
  address instanceof ipaddr.IPv6
    ? { id: networkOf(address, 4), network: networkOf(address, 3) }
    : { id: address.toString(), network: null }

/** A port behind an address, as some proxies write it: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (hop: string) =>
  /^\[([^\]]+)\](?::\d{1,5})?$/.exec(hop)?.[1] ?? /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(hop)?.[1] ?? hop

/** What is to be known of an address, which is looked up for each request. */
interface Known {
  readonly text: string
  readonly address: Address
  /** See `clientOf`. */
  readonly client: Client
  readonly isThisMachine: boolean
  readonly isTrusted: boolean
}

/** Addresses that are remembered, and the characters of each at most. */
const rememberedMax = 4_096
const addressLengthMax = 64

/** Trusts the proxies in these networks. `silent` is called once, with the first one that names no client. */
export const make = (
  trusted: ReadonlyArray<Network>,
  silent: (proxy: string) => void = () => {}
): ClientAddressService => {
  let wasSilent = false
  const remembered = new LRUCache<string, Known>(atMost(rememberedMax))

  const know = (text: string): Known | undefined => {
    const present = remembered.get(text)
    if (present !== undefined) return present
    // A zone behind an address can have any length.
    const isKept = text.length <= addressLengthMax
    // A text of its own: V8 keeps a part of a header with the whole of it.
    const own = isKept ? Buffer.from(text).toString() : text
    const address = parseAddress(own)
    if (address === undefined) return undefined
    const known = {
      text: textOf(address),
      address,
      client: groupsOf(address),
      isThisMachine: address.range() === "loopback",
      isTrusted: contains(trusted, address)
    }
    if (isKept) remembered.set(own, known)
    return known
  }
  const peerOf = ({ remoteAddress }: Source) =>
    Option.isSome(remoteAddress) ? know(remoteAddress.value) : undefined

  const find = (request: Source): Known | undefined => {
    let client = peerOf(request)
    if (client?.isTrusted !== true) return client
    const hops = (request.headers["x-forwarded-for"] ?? "").split(",").slice(-hopsMax)
    while (client.isTrusted) {
      // An entry that is no address, such as the `unknown` of some proxies, hides all entries before it.
      const hop = know(withoutPort(hops.pop()?.trim() ?? ""))
      if (hop === undefined) break
      client = hop
    }
    return client
  }

  return {
    of: (request) => find(request)?.text ?? null,
    parsedOf: (request) => find(request)?.address ?? null,
    clientOf: (request) => {
      const peer = peerOf(request)
      if (peer === undefined) return null
      if (!peer.isTrusted) return peer.isThisMachine ? null : peer.client
      const found = find(request) ?? peer
      if (found.text === peer.text && !wasSilent) {
        wasSilent = true
        silent(peer.text)
      }
      return found.client
    },
    isByProxy: (request) => peerOf(request)?.isTrusted === true
  }
}

/** See {@link make}. */
export const layer = (trusted: ReadonlyArray<Network>): Layer.Layer<ClientAddress> =>
  Layer.effect(
    ClientAddress,
    Effect.map(Effect.runtime<never>(), (runtime) =>
      make(trusted, (proxy) =>
        Runtime.runFork(runtime)(
          Effect.logWarning(
            `The proxy ${proxy} of TRUSTED_PROXIES names no client in X-Forwarded-For: all its clients are counted as one.`
          )
        )
      )
    )
  )
