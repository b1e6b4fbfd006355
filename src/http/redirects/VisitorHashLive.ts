import { Effect, Layer, Option } from "effect"
import ipaddr from "ipaddr.js"
import { dayHours, hourOf } from "../../model/Visit.ts"
import type { Address } from "../../model/Network.ts"
import { KeyedHash } from "../../secrets/KeyedHash.ts"
import { entryOf } from "../../storage/visits/VisitorSketch.ts"
import * as SipHash from "../../visits/SipHash.ts"
import { VisitorHash } from "../../visits/VisitorHash.ts"
import { ClientAddress } from "../exchange/ClientAddress.ts"

/** The upper half of what identifies a client: of an IPv6 address its /64, in which clients change their addresses. */
const highOf = (address: Address): number =>
  address instanceof ipaddr.IPv6 ? (address.parts[0]! << 16) | address.parts[1]! : 0

/** The lower half of it. */
const lowOf = (address: Address): number => {
  if (address instanceof ipaddr.IPv6) return (address.parts[2]! << 16) | address.parts[3]!
  const [first, second, third, fourth] = address.octets as [number, number, number, number]
  return (first << 24) | (second << 16) | (third << 8) | fourth
}

const make = Effect.gen(function* () {
  const addresses = yield* ClientAddress
  const { of } = yield* KeyedHash

  /** The key of a day of UTC, which is counted from 1970. */
  const keyOf = (day: number): SipHash.Key => {
    const bytes = Buffer.from(of("visitor", String(day)), "base64url")
    return [bytes.readInt32LE(0), bytes.readInt32LE(4), bytes.readInt32LE(8), bytes.readInt32LE(12)]
  }
  let latest = -1
  let key: SipHash.Key = [0, 0, 0, 0]

  return VisitorHash.of({
    entryOf: ({ at, forwardedFor, peer }, [userAgentLow, userAgentHigh]) => {
      const day = Math.floor(hourOf(at) / dayHours)
      if (day !== latest) {
        latest = day
        key = keyOf(day)
      }
      const address = addresses.parsedOf({
        headers: forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor },
        remoteAddress: Option.fromNullable(peer)
      })
      const [low, high] = address === null ? [0, 0] : [lowOf(address), highOf(address)]
      SipHash.hash(key, low, high, userAgentLow, userAgentHigh)
      return entryOf(SipHash.hashed.high, SipHash.hashed.low)
    }
  })
})

/**
 * Tells visitors of a day apart by a keyed hash of their client's address and `User-Agent`. Each day of UTC has a key of its own, which follows from the deployment's secret, so that all nodes
 * count alike, and hashes of different days cannot be compared.
 */
export const layer: Layer.Layer<never, never, KeyedHash> = Layer.effect(VisitorHash, make)
