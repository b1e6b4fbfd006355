import type { FileSystem, HttpServerRequest } from "@effect/platform"
import { Effect, Layer, Option } from "effect"
import { valueLengthMax } from "../../model/Visit.ts"
import { type Origin, type Place, VisitorCountry } from "../../visits/VisitClassifier.ts"
import * as GeoIp from "../../visits/GeoIp.ts"
import { ClientAddress } from "../exchange/ClientAddress.ts"

/** How the operator has visitors' countries found. */
export interface VisitorOriginOptions {
  /** A database of addresses in MaxMind's format. */
  readonly geoIpFile: Option.Option<string>
  /** A header in which a trusted proxy says it, such as `cf-ipcountry`, in lower case. */
  readonly countryHeader: Option.Option<string>
}

/** A country as ISO 3166-1 writes it; some proxies have codes of their own with a digit, such as `T1`. `XX` and `ZZ` mean none. */
const codeOf = (text: string | undefined): string | undefined => {
  const code = text?.trim().toUpperCase()
  return code !== undefined && /^(?!XX|ZZ)[A-Z][A-Z0-9]$/.test(code) ? code : undefined
}

/** `Springfield, US`, since cities of several countries have the same name. `other` is the rest in statistics, and never is with a country. */
const cityOf = ({ city, country }: GeoIp.Location): string | undefined => {
  const code = codeOf(country)
  if (city === undefined || city === "" || code === undefined) return undefined
  const text = `${city}, ${code}`
  return text.length > valueLengthMax || /\p{Cc}/u.test(text) ? undefined : text
}

const make = ({ countryHeader, geoIpFile }: VisitorOriginOptions) =>
  Effect.gen(function* () {
    const addresses = yield* ClientAddress
    const geoIp = Option.isSome(geoIpFile) ? yield* GeoIp.watch(geoIpFile.value) : undefined
    const find = ({ country, forwardedFor, peer }: Origin, wantsCity: boolean): Place => {
      const request = {
        headers: forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor },
        remoteAddress: Option.fromNullable(peer)
      } as Pick<HttpServerRequest.HttpServerRequest, "headers" | "remoteAddress">
      const told = country !== undefined && addresses.isByProxy(request) ? codeOf(country) : undefined
      const isWanted = told === undefined || (wantsCity && geoIp?.hasCities() === true)
      const address = isWanted && geoIp !== undefined ? addresses.of(request) : null
      const found = address === null ? undefined : geoIp?.of(address)
      return {
        country: told ?? codeOf(found?.country),
        city: found === undefined ? undefined : cityOf(found)
      }
    }
    return VisitorCountry.of({
      header: Option.getOrUndefined(countryHeader),
      of: (origin) => find(origin, false).country,
      placeOf: (origin) => find(origin, true)
    })
  })

/** Finds visitors' countries: what a trusted proxy says in the header, else what the database says of the client's address, and their cities where that has them. */
export const layer = (
  options: VisitorOriginOptions
): Layer.Layer<never, GeoIp.GeoIpUnusable, FileSystem.FileSystem> =>
  Option.isNone(options.geoIpFile) && Option.isNone(options.countryHeader)
    ? Layer.empty
    : Layer.scoped(VisitorCountry, make(options))
