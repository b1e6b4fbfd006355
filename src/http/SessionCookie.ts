import { Cookies, HttpServerResponse } from "@effect/platform"
import { Context, Layer, Redacted } from "effect"
import { sessionMax } from "../accounts/Accounts.ts"
import type { Request } from "./Request.ts"

/** What is looked at of a request. */
type Source = Pick<Request, "headers" | "method">

/** The service behind {@link SessionCookie}. */
export interface SessionCookieService {
  /** The session that a request shows. */
  readonly tokenOf: (request: Pick<Source, "headers">) => Redacted.Redacted | undefined
  /**
   * Whether another site may have had a browser send this request, along with the cookie: it may change something, and the browser does not say that it comes
   * from a page of this service. By `Sec-Fetch-Site`, or by `Origin` where a browser does not send that; what sends neither is no browser. SameSite alone would
   * let other hosts of our domain through.
   */
  readonly mayBeForged: (request: Source) => boolean
  /** Has a response begin a session in the browser. */
  readonly begin: (
    response: HttpServerResponse.HttpServerResponse,
    token: Redacted.Redacted
  ) => HttpServerResponse.HttpServerResponse
  /** Has a response end it. */
  readonly end: (response: HttpServerResponse.HttpServerResponse) => HttpServerResponse.HttpServerResponse
}

const safeMethods = new Set(["GET", "HEAD", "OPTIONS"])

const isSameHost = (origin: string, host: string | undefined): boolean =>
  URL.canParse(origin) && new URL(origin).host === host

/** The cookie of a service that is reached at `baseUrl`. */
export const make = (baseUrl: URL): SessionCookieService => {
  const secure = baseUrl.protocol === "https:"
  // The prefix keeps other hosts of the domain from setting it (RFC 6265bis, section 4.1.3.2).
  const name = secure ? "__Host-linkmint_session" : "linkmint_session"
  const options = { httpOnly: true, sameSite: "lax", secure, path: "/" } as const

  return {
    tokenOf: ({ headers }) => {
      const token = Cookies.parseHeader(headers["cookie"] ?? "")[name]
      return token === undefined || token === "" ? undefined : Redacted.make(token)
    },
    mayBeForged: ({ headers, method }) => {
      if (safeMethods.has(method)) return false
      const site = headers["sec-fetch-site"]
      if (site !== undefined) return site !== "same-origin" && site !== "none"
      const origin = headers["origin"]
      return origin !== undefined && origin !== baseUrl.origin && !isSameHost(origin, headers["host"])
    },
    begin: (response, token) =>
      HttpServerResponse.unsafeSetCookie(response, name, Redacted.value(token), {
        ...options,
        maxAge: sessionMax
      }),
    end: (response) => HttpServerResponse.unsafeSetCookie(response, name, "", { ...options, maxAge: 0 })
  }
}

/**
 * How browsers keep sessions: in a cookie that no script can read, and that other sites cannot use.
 *
 * By default for a service that is reached by http.
 */
export class SessionCookie extends Context.Reference<SessionCookie>()("linkmint/SessionCookie", {
  defaultValue: (): SessionCookieService => make(new URL("http://localhost"))
}) {}

/** See {@link make}. */
export const layer = (baseUrl: URL): Layer.Layer<SessionCookie> => Layer.succeed(SessionCookie, make(baseUrl))
