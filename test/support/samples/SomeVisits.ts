import type { Link } from "../../../src/model/Link.ts"
import type { Visit } from "../../../src/model/Visit.ts"
import { plainRow } from "../Plain.ts"

/** A browser that people use. */
export const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"

/** A link of `usr_1`. */
export const link: Link = {
  ...plainRow,
  key: "aZ3k9Qx",
  url: "https://example.com/",
  owner: "usr_1",
  custom: false,
  createdAt: 1_000,
  updatedAt: 1_000
}

/** A visit of that link by a browser. */
export const visitOf = (visit: Partial<Visit> = {}): Visit => ({
  link,
  target: undefined,
  at: 0,
  userAgent: firefox,
  referrer: undefined,
  url: "/aZ3k9Qx",
  peer: "203.0.113.9",
  forwardedFor: undefined,
  country: undefined,
  ...visit
})
