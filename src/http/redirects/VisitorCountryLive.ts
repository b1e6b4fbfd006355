import type { FileSystem, HttpServerRequest } from "@effect/platform"
import { Effect, Layer, Option } from "effect"
import { type Origin, VisitorCountry } from "../../visits/VisitClassifier.ts"
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

const make = ({ countryHeader, geoIpFile }: VisitorOriginOptions) =>
  Effect.gen(function* () {
    const addresses = yield* ClientAddress
    const geoIp = Option.isSome(geoIpFile) ? yield* GeoIp.watch(geoIpFile.value) : undefined
    const of = ({ country, forwardedFor, peer }: Origin): string | undefined => {
      const request = {
        headers: forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor },
        remoteAddress: Option.fromNullable(peer)
      } as Pick<HttpServerRequest.HttpServerRequest, "headers" | "remoteAddress">
      const told = country !== undefined && addresses.isByProxy(request) ? codeOf(country) : undefined
      if (told !== undefined || geoIp === undefined) return told
      const address = addresses.of(request)
      return address === null ? undefined : codeOf(geoIp(address))
    }
    return { header: Option.getOrUndefined(countryHeader), of }
  })

/** Finds visitors' countries: what a trusted proxy says in the header, else what the database says of the client's address. */
export const layer = (
  options: VisitorOriginOptions
): Layer.Layer<never, GeoIp.GeoIpUnusable, FileSystem.FileSystem> =>
  Option.isNone(options.geoIpFile) && Option.isNone(options.countryHeader)
    ? Layer.empty
    : Layer.scoped(VisitorCountry, make(options))
