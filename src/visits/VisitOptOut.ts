import { Context } from "effect"
import type { VisitSource } from "../model/Visit.ts"

/** What a request says of itself. */
export interface AskingRequest {
  /** Path and query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** See {@link VisitOptOut}. Each is `undefined` where no setting asks for it, so that nothing is looked at. */
export interface VisitOptOutService {
  /** Whether a request asks not to be counted: on the path of redirects. */
  readonly isAsked: ((request: AskingRequest) => boolean) | undefined
  /** Whether a visit comes from where none are counted: off that path. */
  readonly isFromThere: ((visit: Pick<VisitSource, "peer" | "forwardedFor">) => boolean) | undefined
}

/** Which visits are not recorded, though redirected like all others. By default all are recorded. */
export class VisitOptOut extends Context.Reference<VisitOptOut>()("linkmint/VisitOptOut", {
  defaultValue: (): VisitOptOutService => ({ isAsked: undefined, isFromThere: undefined })
}) {}

/** A function that records a request, for all but those that ask not to be counted. */
export const unlessAsked = <Rest extends ReadonlyArray<unknown>, R extends AskingRequest>(
  { isAsked }: Pick<VisitOptOutService, "isAsked">,
  record: (request: R, ...rest: Rest) => void
): ((request: R, ...rest: Rest) => void) =>
  isAsked === undefined
    ? record
    : (request, ...rest) => {
        if (!isAsked(request)) record(request, ...rest)
      }
