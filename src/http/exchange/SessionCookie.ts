import { Cookies } from "@effect/platform"
import { Context, Layer, Redacted } from "effect"
import { deviceMax } from "../../accounts/Devices.ts"
import { sessionMax } from "../../accounts/Sessions.ts"
import type { Answer } from "./Answer.ts"
import type { Request } from "./Request.ts"
import { parseUrl } from "../../model/ParseUrl.ts"

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
  /** The device that a request says it comes from (see `Devices`). */
  readonly deviceOf: (request: Pick<Source, "headers">) => Redacted.Redacted | undefined
  /** Has an answer begin a session in the browser, and the browser remember its device. */
  readonly begin: (answer: Answer, token: Redacted.Redacted, device: Redacted.Redacted) => Answer
  /** Has an answer end it. */
  readonly end: (answer: Answer) => Answer
}

const safeMethods = new Set(["GET", "HEAD", "OPTIONS"])

const isSameHost = (origin: string, host: string | undefined): boolean =>
  host !== undefined && parseUrl(origin)?.host === host

/** The cookie of a service that is reached at `baseUrl`. */
export const make = (baseUrl: URL): SessionCookieService => {
  const secure = baseUrl.protocol === "https:"
  // The prefix keeps other hosts of the domain from setting it (RFC 6265bis, section 4.1.3.2).
  const prefix = secure ? "__Host-" : ""
  const name = `${prefix}linkmint_session`
  const deviceName = `${prefix}linkmint_device`
  const options = { httpOnly: true, sameSite: "lax", secure, path: "/" } as const

  const valueOf = (name: string, headers: Source["headers"]) => {
    const value = Cookies.parseHeader(headers["cookie"] ?? "")[name]
    return value === undefined || value === "" ? undefined : Redacted.make(value)
  }

  const set = (answer: Answer, name: string, value: string, more: Cookies.Cookie["options"]): Answer => {
    const cookie = Cookies.unsafeMakeCookie(name, value, { ...options, ...more })
    answer.headers.push("set-cookie", Cookies.serializeCookie(cookie))
    return answer
  }

  return {
    tokenOf: ({ headers }) => valueOf(name, headers),
    deviceOf: ({ headers }) => valueOf(deviceName, headers),
    mayBeForged: ({ headers, method }) => {
      if (safeMethods.has(method)) return false
      const site = headers["sec-fetch-site"]
      if (site !== undefined) return site !== "same-origin" && site !== "none"
      const origin = headers["origin"]
      return origin !== undefined && origin !== baseUrl.origin && !isSameHost(origin, headers["host"])
    },
    begin: (answer, token, device) => {
      set(answer, name, Redacted.value(token), { maxAge: sessionMax })
      // Asked for by this service's own pages alone.
      return set(answer, deviceName, Redacted.value(device), { sameSite: "strict", maxAge: deviceMax })
    },
    end: (answer) => set(answer, name, "", { maxAge: 0 })
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
