import { defaultDomain, domainKeyOf, qualifiedKey } from "../../keys/QualifiedKey.ts"
import { changingHost, namesOf } from "../deployment/FurtherDomains.ts"
import { adminHeaders, adminKey } from "../deployment/StubServices.ts"
import type { VirtualRequest } from "../deployment/VirtualNode.ts"
import { atChangingHost } from "../deployment/Orphans.ts"
import type { Wish } from "../History.ts"
import { durationOf } from "./Lasting.ts"
import { queryOf, signsOf } from "./Visitors.ts"
import { countedOf, requestOf as requestOfTraits } from "./Traits.ts"

/** What is asked about one link: by the text by which it is stored. */
export interface LinkWish extends Wish {
  readonly kind: "redirect" | "probe" | "guess" | "show" | "preview" | "change" | "delete"
  readonly key: string
}

/** The path of a link, by the text by which it is stored, or of something about it; with its query, if it has one. */
export const linkPathOf = (text: string, what = ""): string => {
  const { domain, key } = namesOf(text)
  return `/api/v1/links/${encodeURIComponent(key)}${what}${domain === undefined ? "" : `?domain=${domain}`}`
}

/** What is asked for with a plus behind the key. */
const withPlus = (text: string): string => {
  const { domain, key } = domainKeyOf(text)
  return qualifiedKey({ domain, key: `${key}+` })
}

/** The request for such a wish. */
export const linkRequestOf = ({
  apiKey,
  choices,
  expiresAt,
  from,
  isHead,
  kind,
  key: text,
  lasts,
  password,
  path: rest,
  traits,
  query,
  refusal,
  url,
  visitor
}: LinkWish): VirtualRequest => {
  const { domain, key } = namesOf(text)
  const path = linkPathOf(text)
  switch (kind) {
    case "redirect": {
      const { headers } = signsOf(visitor)
      const some = traits === undefined ? undefined : requestOfTraits(traits)
      const more = [...(query === undefined ? [] : [query]), ...(some?.query ?? [])]
      const host = domain !== undefined && { host: domain }
      const search = queryOf(visitor, more.length === 0 ? undefined : more.join("&"))
      const request = {
        path: `/${key}${rest === undefined ? "" : `/${rest}`}${search}`,
        headers: { accept: "application/json", ...some?.headers, ...headers, ...host },
        from: from ?? some?.from
      }
      if (isHead === true) return { method: "HEAD", ...request }
      const asked = {
        ...request,
        link: { key: text, path: rest, counted: countedOf(traits, visitor) },
        orphan: { domains: [domainKeyOf(text).domain], isSure: true }
      }
      if (password === undefined) return { method: "GET", ...asked }
      return {
        method: "POST",
        ...asked,
        headers: { ...asked.headers, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ password }).toString()
      }
    }
    case "guess":
      return {
        method: "GET",
        path: `/${key}`,
        headers: { accept: "application/json" },
        orphan: { domains: [defaultDomain], isSure: true },
        from
      }
    case "probe":
      return {
        method: "GET",
        path: `/${key}`,
        headers: { accept: "application/json", ...signsOf(visitor).headers, host: changingHost },
        link: { key: text, counted: countedOf(undefined, visitor) },
        orphan: atChangingHost
      }
    case "preview": {
      const host = domain !== undefined && { host: domain }
      const request = { path: `/${key}+`, headers: { accept: "application/json", ...host } }
      // Without a link of so many segments, one of fewer redirects, and the plus is what follows its key.
      const orphan = { domains: [domainKeyOf(text).domain], isSure: false }
      return {
        method: "GET",
        ...request,
        ...(key.includes("/") && { link: { key: withPlus(text) }, orphan })
      }
    }
    case "show":
      return { method: "GET", path, headers: { "x-api-key": apiKey ?? adminKey } }
    case "change":
      return {
        method: "PATCH",
        path,
        headers: { ...adminHeaders, ...(apiKey !== undefined && { "x-api-key": apiKey }) },
        body: JSON.stringify({
          url,
          expiresAt,
          expiresIn: lasts && durationOf(lasts),
          ...choices,
          ...refusal?.body
        })
      }
    case "delete":
      return { method: "DELETE", path, headers: { "x-api-key": apiKey ?? adminKey } }
  }
}
