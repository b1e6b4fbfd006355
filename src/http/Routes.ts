import { HttpApi } from "@effect/platform"
import * as Router from "find-my-way-ts"
import { Api } from "./Api.ts"
import { keyOf } from "./LeanRedirect.ts"

/** An operation of this service, as the contract names it: `GET` and `/api/v1/links/{key}`. There are few of them, whatever is asked for. */
export interface Route {
  readonly method: string
  readonly path: string
}

/** What is served beside the contract. */
const uncontracted = ["/", "/app/*", "/assets/:name", "/openapi.json", "/docs"] as const

const redirect: Route = { method: "GET", path: "/{key}" }

const other: Route = { method: "any", path: "other" }

const makeRouter = () => {
  const router = Router.make<Route>()
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
