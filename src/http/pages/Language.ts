import Negotiator from "negotiator"
import type { Request } from "../exchange/Request.ts"
import { languageCookie } from "./LanguageCookie.ts"

const pattern = new RegExp(`(?:^|; )${languageCookie}=([A-Za-z0-9-]{2,20})(?:;|$)`)

/** Characters of `Accept-Language` that are read: more than any browser sends. */
const headerMax = 256

/** Chooses one of these languages for a request, by the cookie, else by `Accept-Language` (RFC 9110, section 12.5.4), else the first. */
export const languageOf =
  (tags: ReadonlyArray<string>) =>
  ({ headers }: Pick<Request, "headers">): string => {
    const { cookie } = headers
    const chosen = cookie === undefined ? undefined : pattern.exec(cookie)?.[1]
    if (chosen !== undefined && tags.includes(chosen)) return chosen
    const accepted = headers["accept-language"]
    if (accepted === undefined) return tags[0]!
    const negotiator = new Negotiator({ headers: { "accept-language": accepted.slice(0, headerMax) } })
    return negotiator.language([...tags]) ?? tags[0]!
  }
