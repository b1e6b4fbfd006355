import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Logger, LogLevel, Option, type Scope, TestClock } from "effect"
import { join } from "node:path"
import { VisitorCountry } from "../../src/visits/VisitClassifier.ts"
import * as ClientAddress from "../../src/http/exchange/ClientAddress.ts"
import * as VisitorCountryLive from "../../src/http/redirects/VisitorCountryLive.ts"
import { parseAll } from "../../src/model/Network.ts"
import { lookEvery } from "../../src/fibers/WatchedFile.ts"
import { temporaryFolder } from "../support/Stores.ts"
import { mmdb } from "../support/Mmdb.ts"

const countries = mmdb("Test-Country", {
  "198.51.100.0/24": { country: { iso_code: "SE" } },
  "2001:db8:5::/48": { country: { iso_code: "GB" } },
  "203.0.113.0/25": { registered_country: { iso_code: "US" } },
  "192.0.2.0/24": { country_code: "NZ" }
})

/** How countries are found with these settings; the file has these bytes. */
const found = (options: {
  readonly file?: Uint8Array
  readonly header?: string
  readonly proxies?: string
}) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const file = join(yield* temporaryFolder, "countries.mmdb")
    if (options.file !== undefined) yield* fs.writeFile(file, options.file)
    const trusted = yield* parseAll(options.proxies ?? "10.0.0.0/8")
    const context = yield* Layer.build(
      VisitorCountryLive.layer({
        geoIpFile: options.file === undefined ? Option.none() : Option.some(file),
        countryHeader: Option.fromNullable(options.header)
      }).pipe(Layer.provide(ClientAddress.layer(trusted)))
    )
    const { of, placeOf } = yield* Effect.provide(VisitorCountry, context)
    return {
      file,
      countryOf: (peer: string, forwardedFor?: string, country?: string) =>
        of({ peer, forwardedFor, country }),
      placeOf: (peer: string, country?: string) => placeOf({ peer, forwardedFor: "198.51.100.7", country })
    }
  })

const scoped = <A, E>(self: Effect.Effect<A, E, FileSystem.FileSystem | Scope.Scope>) =>
  self.pipe(Effect.scoped, Effect.provide([NodeContext.layer, Logger.minimumLogLevel(LogLevel.None)]))

describe("a visitor's country", () => {
  it.effect("is that of the address in the database, IPv4 and IPv6", () =>
    scoped(
      Effect.gen(function* () {
        const { countryOf } = yield* found({ file: countries })
        expect(countryOf("198.51.100.7")).toBe("SE")
        expect(countryOf("::ffff:198.51.100.7")).toBe("SE")
        expect(countryOf("2001:db8:5:1::9")).toBe("GB")
        expect(countryOf("203.0.113.9")).toBe("US")
        expect(countryOf("192.0.2.200")).toBe("NZ")
        expect(countryOf("203.0.113.200")).toBeUndefined()
        expect(countryOf("127.0.0.1")).toBeUndefined()
        expect(countryOf("no address")).toBeUndefined()
      })
    )
  )

  it.effect("is that of the client, not of the proxy, and only where the proxy is trusted", () =>
    scoped(
      Effect.gen(function* () {
        const { countryOf } = yield* found({ file: countries })
        expect(countryOf("10.0.0.1", "198.51.100.7")).toBe("SE")
        expect(countryOf("10.0.0.1", "2001:db8:5::1, 198.51.100.7, 10.2.3.4")).toBe("SE")
        expect(countryOf("192.0.2.1", "198.51.100.7")).toBe("NZ")
      })
    )
  )

  it.effect("is what a trusted proxy says in the header, and what anybody else says there is not", () =>
    scoped(
      Effect.gen(function* () {
        const { countryOf } = yield* found({ file: countries, header: "cf-ipcountry" })
        expect(countryOf("10.0.0.1", "198.51.100.7", "fr")).toBe("FR")
        expect(countryOf("10.0.0.1", "198.51.100.7", "T1")).toBe("T1")
        for (const nothing of ["XX", "zz", "", "France", "F", "<>", "1A"]) {
          expect(countryOf("10.0.0.1", "198.51.100.7", nothing)).toBe("SE")
        }
        expect(countryOf("192.0.2.1", undefined, "FR")).toBe("NZ")
        const alone = yield* found({ header: "cf-ipcountry" })
        expect(alone.countryOf("10.0.0.1", undefined, "FR")).toBe("FR")
        expect(alone.countryOf("192.0.2.1", undefined, "FR")).toBeUndefined()
      })
    )
  )

  it.effect("is with its city where the database has them, whatever the header says of the country", () =>
    scoped(
      Effect.gen(function* () {
        const record = (city: string | { names: { en: string } }) => ({ country: { iso_code: "US" }, city })
        const cities = mmdb("Test-City", {
          "192.0.2.1/32": record({ names: { en: "Springfield" } }),
          "192.0.2.2/32": record("Springfield"),
          "192.0.2.3/32": record("x".repeat(253)),
          "192.0.2.4/32": record("a\nb"),
          "192.0.2.5/32": { country: { iso_code: "US" } },
          "192.0.2.6/32": { city: "Nowhere" },
          "198.51.100.0/24": record("Shelbyville")
        })
        const { placeOf } = yield* found({ file: cities, header: "cf-ipcountry" })
        const us = { country: "US", city: undefined }
        for (const last of [1, 2]) {
          expect(placeOf(`192.0.2.${last}`)).toEqual({ country: "US", city: "Springfield, US" })
        }
        for (const last of [3, 4, 5]) expect(placeOf(`192.0.2.${last}`)).toEqual(us)
        expect(placeOf("192.0.2.6")).toEqual({ country: undefined, city: undefined })
        expect(placeOf("192.0.2.7")).toEqual({ country: undefined, city: undefined })
        expect(placeOf("10.0.0.1", "FR")).toEqual({ country: "FR", city: "Shelbyville, US" })
        const without = yield* found({ file: countries, header: "cf-ipcountry" })
        expect(without.placeOf("10.0.0.1", "FR")).toEqual({ country: "FR", city: undefined })
        expect(without.placeOf("10.0.0.1")).toEqual({ country: "SE", city: undefined })
      })
    )
  )

  it.effect("follows the file when that changes, and stays what it was when it breaks", () =>
    scoped(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { countryOf, file } = yield* found({ file: countries })
        const until = (country: string) =>
          TestClock.adjust(lookEvery).pipe(
            Effect.zipRight(Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 10)))),
            Effect.repeat({ until: () => countryOf("198.51.100.7") === country })
          )
        yield* fs.writeFile(file, Buffer.from("broken, and of another size"))
        yield* Effect.repeatN(until("SE"), 5)
        yield* fs.writeFile(file, mmdb("Test-City", { "198.51.0.0/16": { country: { iso_code: "NO" } } }))
        yield* until("NO")
      })
    )
  )

  for (const [what, file, reason] of [
    ["no database", Buffer.from("no database"), "not in MaxMind's format"],
    ["empty", Buffer.alloc(0), "not in MaxMind's format"],
    ["of networks", mmdb("GeoLite2-ASN", { "198.51.100.0/24": { n: 1 } }), "tells of GeoLite2-ASN"]
  ] as const) {
    it.effect(`needs a usable file: one that is ${what} is an error at the start`, () =>
      scoped(
        Effect.gen(function* () {
          const error = yield* Effect.flip(found({ file }))
          expect(String(error)).toContain(reason)
          expect(String(error)).toContain("GEOIP_FILE")
        })
      )
    )
  }
})
