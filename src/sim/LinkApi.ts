import { HttpApi, HttpApiBuilder } from "@effect/platform"
import { Layer } from "effect"
import { links } from "../http/Api.ts"
import type { LinkRoutesOptions } from "../http/LinkCreation.ts"
import * as LinkRoutes from "../http/LinkRoutes.ts"

/** The operations on links, in the contract's own words. */
const api = HttpApi.make("linkmint").add(links)

/** The routes that simulated clients ask, and no others: each start of a node makes them anew, which costs more than most runs ask of them. */
export const routes = (options: LinkRoutesOptions) =>
  Layer.mergeAll(
    HttpApiBuilder.api(api).pipe(Layer.provide(LinkRoutes.layer(options))),
    HttpApiBuilder.Router.Live,
    HttpApiBuilder.Middleware.layer
  )
