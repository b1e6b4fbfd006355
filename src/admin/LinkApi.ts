import { HttpClient, HttpClientRequest } from "@effect/platform"
import { Context, Data, Duration, Effect, Layer, Redacted } from "effect"
import type { ShownLink } from "../transfer/Exporting.ts"
import type { NewLink } from "../transfer/Fields.ts"
import type { Result } from "../transfer/Importing.ts"

/** The service did not do what it was asked. `mayPass`: whether it may do so later. */
export class NotAnswered extends Data.TaggedError("NotAnswered")<{
  readonly message: string
  readonly mayPass: boolean
}> {}

/** A page of links. */
export interface Page {
  readonly data: ReadonlyArray<ShownLink>
  readonly nextCursor: string | null
  readonly total?: { readonly count: number; readonly isExact: boolean }
  readonly partial?: boolean
}

/** Links on a page. */
const pageLength = 500

/** Longer than the service takes for any answer. */
const answerMax = Duration.seconds(30)

/** The links of a deployment, as its HTTP API shows them to the bearer of a key. */
export class LinkApi extends Context.Tag("linkmint/admin/LinkApi")<
  LinkApi,
  {
    /** A page of links, the oldest first. `cursor`: where it begins, `null` for the first one, which says how many there are. */
    readonly list: (cursor: string | null, owner: string | undefined) => Effect.Effect<Page, NotAnswered>
    /** Creates links. A repeat with the same key makes none twice. */
    readonly create: (
      links: ReadonlyArray<NewLink>,
      idempotencyKey: string
    ) => Effect.Effect<ReadonlyArray<Result>, NotAnswered>
    /** The URL of the link of a key, if the bearer may see it. */
    readonly urlOf: (
      key: string,
      domain: string | undefined
    ) => Effect.Effect<string | undefined, NotAnswered>
    /** The service's time, in milliseconds since the Unix epoch, rounded down to seconds. */
    readonly now_ms: Effect.Effect<number, NotAnswered>
  }
>() {}

interface Answer {
  readonly status: number
  readonly date: string
  readonly json: unknown
}

/** The API at a URL, for the bearer of a key. */
export const layer = (url: URL, apiKey: Redacted.Redacted) =>
  Layer.effect(
    LinkApi,
    Effect.map(HttpClient.HttpClient, (client) => {
      const ask = (request: HttpClientRequest.HttpClientRequest): Effect.Effect<Answer, NotAnswered> =>
        client
          .execute(
            request.pipe(
              HttpClientRequest.prependUrl(url.origin),
              HttpClientRequest.setHeader("x-api-key", Redacted.value(apiKey)),
              HttpClientRequest.acceptJson
            )
          )
          .pipe(
            Effect.flatMap((response) =>
              Effect.map(response.text, (text): Answer => {
                const { headers, status } = response
                try {
                  return { status, date: headers["date"] ?? "", json: text === "" ? null : JSON.parse(text) }
                } catch {
                  return { status, date: headers["date"] ?? "", json: null }
                }
              })
            ),
            Effect.scoped,
            Effect.timeout(answerMax),
            Effect.mapError(
              () => new NotAnswered({ message: `${url.origin} cannot be reached.`, mayPass: true })
            )
          )

      const orFail = ({ json, status, ...others }: Answer): Effect.Effect<Answer, NotAnswered> => {
        if (status === 200) return Effect.succeed({ json, status, ...others })
        const { detail } = (json ?? {}) as { readonly detail?: string }
        const message = `${url.origin} answered ${status}${detail === undefined ? "" : `: ${detail}`}`
        const mayPass = status === 429 || status >= 500
        return Effect.fail(new NotAnswered({ message, mayPass }))
      }

      const get = (path: string) => Effect.flatMap(ask(HttpClientRequest.get(path)), orFail)

      return {
        list: (cursor, owner) => {
          const query = new URLSearchParams({
            limit: String(pageLength),
            orderBy: "createdAt-asc",
            archived: "any",
            ...(cursor === null ? { total: "true" } : { cursor }),
            ...(owner !== undefined && { owner })
          })
          return get(`/api/v1/links?${query}`).pipe(
            Effect.map(({ json }) => json as Page),
            Effect.filterOrFail(
              ({ partial }) => partial !== true,
              () =>
                new NotAnswered({
                  message: "One of the databases of links does not answer: the list would have gaps.",
                  mayPass: true
                })
            )
          )
        },
        create: (links, idempotencyKey) =>
          HttpClientRequest.post("/api/v1/links/bulk").pipe(
            HttpClientRequest.setHeader("idempotency-key", idempotencyKey),
            HttpClientRequest.bodyUnsafeJson({ links }),
            ask,
            Effect.flatMap(orFail),
            Effect.map(({ json }) => (json as { readonly results: ReadonlyArray<Result> }).results)
          ),
        urlOf: (key, domain) =>
          Effect.flatMap(
            ask(
              HttpClientRequest.get(`/api/v1/links/${encodeURIComponent(key)}`, {
                urlParams: domain === undefined ? {} : { domain }
              })
            ),
            (answer) =>
              answer.status === 404 || answer.status === 403
                ? Effect.succeed(undefined)
                : Effect.map(orFail(answer), ({ json }) => (json as ShownLink).url)
          ),
        now_ms: Effect.map(get("/health/live"), ({ date }) => Date.parse(date))
      }
    })
  )
