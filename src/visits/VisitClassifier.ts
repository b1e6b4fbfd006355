import { Context } from "effect"
import { remembering } from "../fibers/Remembered.ts"
import * as Referrer from "./Referrer.ts"
import * as UserAgent from "./UserAgent.ts"
import * as UtmParameters from "./UtmParameters.ts"
import type { VisitorHashService } from "./VisitorHash.ts"
import type { Dimension, dimensions, VisitClass, VisitSource } from "../model/Visit.ts"

/** Different `Referer`s whose results are cached: many visits have the same one. */
const rememberedMax = 4_096

/** What a visit's country is found by. */
export type Origin = Pick<VisitSource, "peer" | "forwardedFor" | "country">

/** Where a visit comes from, as far as that is known. */
export interface Place {
  /** ISO 3166-1, two letters. */
  readonly country: string | undefined
  /** Its name, and the code of its country. */
  readonly city: string | undefined
}

const nowhere: Place = { country: undefined, city: undefined }

/** Finds the country and the city that a visit comes from. By default it never can. */
export class VisitorCountry extends Context.Reference<VisitorCountry>()("linkmint/VisitorCountry", {
  defaultValue: (): VisitorCountryService => ({
    header: undefined,
    of: () => undefined,
    placeOf: () => nowhere
  })
}) {}

/** See {@link VisitorCountry}. */
export interface VisitorCountryService {
  /** The header in which a proxy says it, in lower case. */
  readonly header: string | undefined
  /** The country (ISO 3166-1, two letters); `undefined` where it is not known. */
  readonly of: (origin: Origin) => string | undefined
  /** That, and the city. */
  readonly placeOf: (origin: Origin) => Place
}

/** A value in each dimension, in their order. */
type InOrder<Dimensions extends ReadonlyArray<Dimension>> = {
  readonly [Index in keyof Dimensions]: string | undefined
}

/** Classifies visits, but for what led them. `ownHost` is the host of short URLs. */
export const make = (
  ownHost: string,
  places: VisitorCountryService,
  visitors: VisitorHashService
): ((visit: VisitSource) => VisitClass) => {
  const none = { host: Referrer.parse(undefined, ownHost) }
  const referrerOf = remembering(rememberedMax, (text) => ({ host: Referrer.parse(text, ownHost) }))
  return (visit) => {
    const { browser, device, digest, isBot, os } = UserAgent.parse(visit.userAgent)
    const { city, country } = places.placeOf(visit)
    const values: InOrder<typeof dimensions> = [
      (visit.referrer === undefined ? none : referrerOf(visit.referrer)).host,
      country ?? "unknown",
      browser,
      os,
      device,
      // That of visits of some links, which the visit itself says.
      undefined,
      ...UtmParameters.parse(visit.url),
      city
    ]
    return { isBot, values, visitor: isBot ? undefined : visitors.entryOf(visit, digest) }
  }
}
