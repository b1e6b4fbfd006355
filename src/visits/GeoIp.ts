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
interface Entry {
  readonly city?: { readonly names?: { readonly en?: string } } | string
  readonly country?: { readonly iso_code?: string } | string
  readonly registered_country?: { readonly iso_code?: string }
  readonly country_code?: string
}

/** Where an address is. */
export interface Location {
  /** ISO 3166-1, two letters. */
  readonly country: string | undefined
  /** Its English name. */
  readonly city: string | undefined
}

const locationOf = (record: Entry): Location => {
  const country = typeof record.country === "string" ? record.country : record.country?.iso_code
  return {
    country: country ?? record.country_code ?? record.registered_country?.iso_code,
    city: typeof record.city === "string" ? record.city : record.city?.names?.en
  }
}

/** A database of addresses. */
export interface GeoIp {
  /** Where an IP address is; `undefined` for addresses that the database does not have. */
  readonly of: (address: string) => Location | undefined
  /** Whether it may know cities. */
  readonly hasCities: () => boolean
}

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
    return {
      of: (address) => {
        const record = reader().get(address) as Entry | null
        return record === null ? undefined : locationOf(record)
      },
      hasCities: () => /city|enterprise/i.test(reader().metadata.databaseType)
    }
  })
