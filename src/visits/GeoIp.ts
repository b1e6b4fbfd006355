import { FileSystem } from "@effect/platform"
import { Data, Effect, type Scope } from "effect"
import { Reader, type Response } from "maxmind"
import * as WatchedFile from "../fibers/WatchedFile.ts"

/** Bytes that the file may have at most; the largest published ones of cities have some 120 MB. It is held in memory. */
const fileBytesMax = 512 * 1024 * 1024

/** The GeoIP database cannot be used. */
export class GeoIpUnusable extends Data.TaggedError("GeoIpUnusable")<{
  readonly file: string
  readonly reason: string
}> {
  override get message() {
    return `The GeoIP database ${this.file} cannot be used: ${this.reason}. Set GEOIP_FILE to an .mmdb file of countries or cities.`
  }
}

/** The fields of a record that are read, in the forms of various publishers. */
interface Place {
  readonly country?: { readonly iso_code?: string } | string
  readonly registered_country?: { readonly iso_code?: string }
  readonly country_code?: string
}

const countryOf = (place: Place | null): string | undefined => {
  if (place === null) return undefined
  const country = typeof place.country === "string" ? place.country : place.country?.iso_code
  return country ?? place.country_code ?? place.registered_country?.iso_code
}

/** Gives the country (ISO 3166-1, two letters) of an IP address; `undefined` for addresses that the database does not have. */
export type GeoIp = (address: string) => string | undefined

/** The database in a file in MaxMind's format, as `WatchedFile` watches it. */
export const watch = (
  file: string
): Effect.Effect<GeoIp, GeoIpUnusable, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const unusable = (reason: string) => new GeoIpUnusable({ file, reason })
    const load = Effect.gen(function* () {
      const bytes = yield* fs.readFile(file)
      const reader = yield* Effect.try({
        try: () => new Reader<Response>(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
        catch: (error) => unusable(`it is not in MaxMind's format (${(error as Error).message})`)
      })
      const { databaseType } = reader.metadata
      // With any other database, such as one of networks, every visitor's country would be unknown.
      if (!/country|city|enterprise/i.test(databaseType)) {
        return yield* unusable(`it tells of ${databaseType}, not of countries`)
      }
      return reader
    })
    const reader = yield* WatchedFile.watch({
      file,
      bytesMax: fileBytesMax,
      load,
      unusable,
      describe: ({ metadata }) =>
        `The GeoIP database is ${metadata.databaseType} of ${metadata.buildEpoch.toISOString()}`
    })
    return (address) => countryOf(reader().get(address) as Place | null)
  })
