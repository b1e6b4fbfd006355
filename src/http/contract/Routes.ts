import { HttpApi } from "@effect/platform"
import { Option, Schema } from "effect"
import * as Router from "find-my-way-ts"
import { Api } from "./Api.ts"
import { qualifiedKey } from "../../keys/QualifiedKey.ts"
import { isReserved } from "../links/ReservedAliases.ts"
import { isLong, isSegment } from "../../model/Alias.ts"

/** An operation of this service, as the contract names it: `GET` and `/api/v1/links/{key}`. There are few of them, whatever is asked for. */
export interface Route {
  readonly method: string
  readonly path: string
  /** What answers it: a group of the contract, and the operation's name there. */
  readonly group: string
  readonly name: string
  /** Decodes the parameters of its query, if it has any. */
  readonly decodeQuery: ((query: unknown) => object) | undefined
}

/** What is served beside the contract, by GET. */
export const uncontracted = {
  page: "/",
  innerPage: "/app/*",
  asset: "/assets/:name",
  openApi: "/openapi.json",
  docs: "/docs"
} as const

/** See {@link uncontracted}. */
export type Uncontracted = typeof uncontracted

/** A route, and the parameters of a request for it. */
export interface Match {
  readonly route: Route
  /** The parameters of its path. */
  readonly path: Readonly<Record<string, string | undefined>>
  /** The parameters of its query as they came. */
  readonly query: Readonly<Record<string, string | ReadonlyArray<string>>>
}

const none = {}

/** The route of what is at no other one. */
export const other: Route = { method: "any", path: "other", group: "", name: "", decodeQuery: undefined }

const makeTable = () => {
  // Short keys are case-sensitive, so all paths are.
  const router = Router.make<Route>({ caseSensitive: true })
  /** Routes without parameters, by method and by target as the contract writes it: found without the router. */
  const exact: Record<string, Map<string, Match>> = {}
  const routes: Array<Route> = []
  const add = (path: string, route: Omit<Route, "path">) => {
    const added = { ...route, path: path.replaceAll(/:(\w+)/g, "{$1}") }
    router.on(route.method, path as Router.PathInput, added)
    routes.push(added)
    if (/[:*]/.test(path)) return
    const match: Match = { route: added, path: none, query: none }
    ;(exact[route.method] ??= new Map()).set(path, match)
  }
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const { method, name, path, urlParamsSchema } = endpoint
      const decodeQuery = Option.getOrUndefined(
        Option.map(urlParamsSchema, (schema) => Schema.decodeUnknownSync(schema))
      )
      add(path, { method, group: group.identifier, name, decodeQuery })
    }
  })
  for (const [name, path] of Object.entries(uncontracted)) {
    add(path, { method: "GET", group: "uncontracted", name, decodeQuery: undefined })
  }
  return { exact, router, routes }
}

const table = makeTable()

/** All routes. */
export const routes: ReadonlyArray<Route> = table.routes

/** The routes of short URLs, by method. */
const shortUrls = new Map(
  routes.filter(({ path }) => path === "/{key}").map((route) => [route.method, route])
)

const redirect = shortUrls.get("GET")!

/** Paths that look like a short key, but are other routes. */
const pages = new Set(routes.filter(({ method }) => method === "GET").map(({ path }) => path.slice(1)))

/** The key of a short URL; `undefined` where the target is anything else, or is written in another way. */
const keyOf = (url: string): string | undefined => {
  const end = url.indexOf("?")
  const key = url.slice(1, end === -1 ? undefined : end)
  return url.charCodeAt(0) === 47 && isSegment(key) && !pages.has(key) ? key : undefined
}

/** A key, a slash, and more behind it. */
const longer = /^\/([A-Za-z0-9_-]{1,64})\/([^?]+)/

/** The match of a short URL with a path behind its first segment, which is more of its alias, or which the link may forward. What this service keeps for itself is no key. */
const findLonger = (verb: string, url: string): Match | undefined => {
  const route = shortUrls.get(verb)
  const [, key, rest] = (route !== undefined && longer.exec(url)) || []
  return key === undefined || isReserved(key)
    ? undefined
    : { route: route!, path: { key, rest }, query: none }
}

/** HEAD requests have the routes of GET. */
const verbOf = (method: string): string => (method === "HEAD" ? "GET" : method)

/** The match of a request whose target is written in the most common way. */
const findPlain = (verb: string, url: string): Match | undefined => {
  const key = verb === "GET" ? keyOf(url) : undefined
  return key === undefined ? table.exact[verb]?.get(url) : { route: redirect, path: { key }, query: none }
}

/** The route of a request, the same object each time, however the request is written. */
export const routeOf = (method: string, url: string): Route => {
  const verb = verbOf(method)
  const found = findPlain(verb, url)?.route ?? table.router.find(verb, url)?.handler
  return found ?? findLonger(verb, url)?.route ?? other
}

/** Groups of the contract that are served at the hosts of further domains: what visitors and crawlers see, and what proxies ask. */
const groupsForVisitors = new Set(["redirects", "robots", "health", "certificates"])

const isForVisitors = ({ group, name }: Route): boolean =>
  groupsForVisitors.has(group) || (group === "uncontracted" && name === "asset")

/** The match of a request for a further domain, by its number: the key of a short URL becomes the text by which the domain's link is stored. `undefined`: see {@link find}, and for all that only the default domain serves. */
export const findIn = (domain: number, method: string, url: string): Match | undefined => {
  const match = find(method, url)
  if (match === undefined || !isForVisitors(match.route)) return undefined
  if (match.route.group !== "redirects") return match
  const { key = "" } = match.path
  const isPreview = key.endsWith("+")
  const text = qualifiedKey({ domain, key: isPreview ? key.slice(0, -1) : key })
  return { ...match, path: { ...match.path, key: isPreview ? `${text}+` : text } }
}

/** What proxies and load balancers ask, by whatever name they reach this node. */
const groupsForProxies = new Set(["health", "certificates"])

/** The match of a request for a host that is nobody's: only proxies are answered. */
export const findNowhere = (method: string, url: string): Match | undefined => {
  const match = find(method, url)
  return match !== undefined && groupsForProxies.has(match.route.group) ? match : undefined
}

/** The path of a request target, in origin form or in absolute form, as it was written. */
const pathOf = (url: string): string => {
  const target = url.startsWith("/") ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, "")
  const end = target.indexOf("?")
  return end === -1 ? target : target.slice(0, end)
}

/** Whether a slash at the end of a path is ignored: after a key or an id, and for paths of the API. */
const mayEndInSlash = (template: string) => template.endsWith("}") || template.startsWith("/api/")

/**
 * Whether a request writes the path of its route as the contract does, except for the parts in braces. The router also accepts others, with superfluous slashes or percent-encoded
 * letters, which would pass a proxy that blocks the path.
 */
const isWrittenOut = (template: string, url: string): boolean => {
  const path = pathOf(url)
  // The router ends a path there.
  if (/[;#]/.test(path)) return false
  const written = (mayEndInSlash(template) && path.endsWith("/") ? path.slice(0, -1) : path).split("/")
  const parts = template.split("/")
  if (parts.at(-1) !== "*" && parts.length !== written.length) return false
  return parts.every((part, at) => part === "*" || part.startsWith("{") || part === written[at])
}

/**
 * Whether a request may name a link by a decoded part of its path: not by the text of a link in a further domain, as it is stored, and of an alias with several segments, slashes are written as such
 * in short URLs.
 */
const mayName = ({ group }: Route, key = ""): boolean =>
  !key.includes("~") && !(group === "redirects" && isLong(key))

/** The match of a request; `undefined` where there is no such route, or the path is written in another way than in the contract, and is not that of a short URL with more behind its key. */
export const find = (method: string, url: string): Match | undefined => {
  const verb = verbOf(method)
  const plain = findPlain(verb, url)
  if (plain !== undefined) return plain
  const found = table.router.find(verb, url)
  if (found === undefined || !isWrittenOut(found.handler.path, url)) return findLonger(verb, url)
  return !mayName(found.handler, found.params["key"])
    ? undefined
    : { route: found.handler, path: found.params, query: found.searchParams }
}
