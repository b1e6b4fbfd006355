import { Effect, Option } from "effect"
import Negotiator from "negotiator"
import { remembering } from "../../../fibers/Remembered.ts"
import { hourOf, dayHours } from "../../../model/Visit.ts"
import type { Address } from "../../../model/Network.ts"
import { KeyedHash, type KeyedHashService } from "../../../secrets/KeyedHash.ts"
import * as UserAgent from "../../../visits/UserAgent.ts"
import { VisitorCountry, type VisitorCountryService } from "../../../visits/VisitClassifier.ts"
import { ClientAddress, type ClientAddressService } from "../../exchange/ClientAddress.ts"
import type { Request } from "../../exchange/Request.ts"
import type { Facts } from "./Decision.ts"

/** What is looked at of a request. */
export type Source = Pick<Request, "headers" | "remoteAddress" | "url">

/** By what facts are found. */
interface Finders {
  readonly addresses: ClientAddressService
  readonly countries: Pick<VisitorCountryService, "header" | "of">
  readonly hash: KeyedHashService
}

/** Characters of an `Accept-Language` at most; a longer one says nothing. */
const languagesLengthMax = 512

/** Characters of the hash that are drawn from: six bits each. */
const drawnLength = 8

/** Different ones whose results are cached: many visits have the same one. */
const languagesRemembered = 1_024

const negotiated = remembering(languagesRemembered, (text) => {
  const [preferred] = new Negotiator({ headers: { "accept-language": text } }).languages()
  return { preferred: preferred?.toLowerCase() }
})

/** The language that an `Accept-Language` prefers (RFC 9110, section 12.5.4), in lower case. */
const preferredLanguage = (text: string | undefined): string | undefined =>
  text === undefined || text.length > languagesLengthMax ? undefined : negotiated(text).preferred

const noQuery = new URLSearchParams()

/** Facts of a request for a link. What takes longer than to look it up is found once. */
class VisitorFacts implements Facts {
  readonly now: number
  readonly #finders: Finders
  readonly #key: string
  readonly #request: Source
  #agent: UserAgent.UserAgent | undefined
  #country: string | null | undefined
  #query: URLSearchParams | undefined
  #address: Address | null | undefined

  constructor(finders: Finders, request: Source, key: string, now: number) {
    this.#finders = finders
    this.#request = request
    this.#key = key
    this.now = now
  }

  #agentNow(): UserAgent.UserAgent {
    return (this.#agent ??= UserAgent.parse(this.#request.headers["user-agent"]))
  }

  device(): string | undefined {
    return this.#agentNow().device
  }

  os(): string | undefined {
    return this.#agentNow().os
  }

  language(): string | undefined {
    return preferredLanguage(this.#request.headers["accept-language"])
  }

  country(): string | undefined {
    if (this.#country === undefined) {
      const { headers, remoteAddress } = this.#request
      const { header, of } = this.#finders.countries
      const country = of({
        peer: Option.getOrUndefined(remoteAddress),
        forwardedFor: headers["x-forwarded-for"],
        country: header === undefined ? undefined : headers[header]
      })
      this.#country = country ?? null
    }
    return this.#country ?? undefined
  }

  query(): URLSearchParams {
    if (this.#query === undefined) {
      const { url } = this.#request
      const from = url.indexOf("?")
      this.#query = from === -1 ? noQuery : new URLSearchParams(url.slice(from))
    }
    return this.#query
  }

  address(): Address | undefined {
    if (this.#address === undefined) this.#address = this.#finders.addresses.parsedOf(this.#request)
    return this.#address ?? undefined
  }

  /** Of an IPv6 client its /64 is drawn for, since clients change their addresses within it. */
  draw(): number {
    const { addresses, hash } = this.#finders
    const client = addresses.clientOf(this.#request)?.id ?? addresses.of(this.#request) ?? ""
    const day = Math.floor(hourOf(this.now) / dayHours)
    const drawn = hash.of("variant", `${client}\n${day}\n${this.#key}`).slice(0, drawnLength)
    return Buffer.from(drawn, "base64url").readUIntBE(0, 6)
  }
}

/** Gives the facts of a request for the link with a key, at a moment (milliseconds since the Unix epoch). Nothing is looked up before a condition asks for it. */
export type FactsOf = (request: Source, key: string, now: number) => Facts

/** See {@link FactsOf}. */
export const makeWith =
  (finders: Finders): FactsOf =>
  (request, key, now) =>
    new VisitorFacts(finders, request, key, now)

/** See {@link FactsOf}. */
export const make: Effect.Effect<FactsOf, never, KeyedHash> = Effect.gen(function* () {
  return makeWith({
    addresses: yield* ClientAddress,
    countries: yield* VisitorCountry,
    hash: yield* KeyedHash
  })
})
