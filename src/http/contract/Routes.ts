import { HttpApi } from "@effect/platform"
import * as Router from "find-my-way-ts"
import { Api } from "./Api.ts"
import { keyOf } from "../redirects/LeanRedirect.ts"

/** An operation of this service, as the contract names it: `GET` and `/api/v1/links/{key}`. There are few of them, whatever is asked for. */
export interface Route {
  readonly method: string
  readonly path: string
}

/** How paths are understood: also by the router of the contract. Short keys go by case, so all do. */
export const routerConfig = { caseSensitive: true } as const

/** What is served beside the contract. */
const uncontracted = ["/", "/app/*", "/assets/:name", "/openapi.json", "/docs"] as const

const redirect: Route = { method: "GET", path: "/{key}" }

const other: Route = { method: "any", path: "other" }

const makeRouter = () => {
  const router = Router.make<Route>(routerConfig)
  const add = (method: string, path: string) => {
    const route =
      path === "/:key" && method === "GET" ? redirect : { method, path: path.replaceAll(/:(\w+)/g, "{$1}") }
    router.on(method, path as Router.PathInput, route)
  }
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => add(endpoint.method, endpoint.path)
  })
  for (const path of uncontracted) add("GET", path)
  return router
}

const router = makeRouter()

/** The route that answers a request, the same object each time; head requests go the way of the others. */
export const routeOf = (method: string, url: string): Route => {
  const verb = method === "HEAD" ? "GET" : method
  if (verb === "GET" && keyOf(url) !== undefined) return redirect
  const end = url.indexOf("?")
  return router.find(verb, end === -1 ? url : url.slice(0, end))?.handler ?? other
}

/** The path of a request target, in origin form or in absolute form, as it was written. */
const pathOf = (url: string): string => {
  const target = url.startsWith("/") ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, "")
  const end = target.indexOf("?")
  return end === -1 ? target : target.slice(0, end)
}

/** Whether a path ends behind a key or an id, or is one of the API's: there a slash at its end means nothing. */
const mayEndInSlash = (template: string) => template.endsWith("}") || template.startsWith("/api/")

/**
 * Whether a request is written as the contract writes the path of its route, but for the parts in braces. The router takes others as well, with slashes too many or letters
 * that are percent-encoded: a proxy that keeps a path from strangers would let them pass. `true` where no route answers it.
 */
export const isWrittenOut = (method: string, url: string): boolean => {
  const route = routeOf(method, url)
  if (route === other) return true
  const template = route.path
  const path = pathOf(url)
  const written = (mayEndInSlash(template) && path.endsWith("/") ? path.slice(0, -1) : path).split("/")
  const parts = template.split("/")
  if (parts.at(-1) !== "*" && parts.length !== written.length) return false
  return parts.every((part, at) => part === "*" || part.startsWith("{") || part === written[at])
}
