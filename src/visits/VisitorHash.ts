import { Context } from "effect"
import type { VisitSource } from "../model/Visit.ts"

/** Two signed numbers of 32 bits that differ from text to text. */
export type Digest = readonly [low: number, high: number]

/** See {@link VisitorHash}. */
export interface VisitorHashService {
  /** What is counted of the visitor of a visit, whose `User-Agent` has this digest: see `VisitorSketch.entryOf`. `undefined` where visitors are not told apart. */
  readonly entryOf: (
    visit: Pick<VisitSource, "at" | "forwardedFor" | "peer">,
    userAgent: Digest
  ) => number | undefined
}

/** Tells visitors of a day apart, off the path of redirects, and stores nothing of them but what `VisitorSketch` keeps. By default it does not. */
export class VisitorHash extends Context.Reference<VisitorHash>()("linkmint/VisitorHash", {
  defaultValue: (): VisitorHashService => ({ entryOf: () => undefined })
}) {}
