import { FileSystem } from "@effect/platform"
import { Effect, Layer, Option } from "effect"
import * as ClientAddress from "../../http/exchange/ClientAddress.ts"
import * as VisitorCountryLive from "../../http/redirects/VisitorCountryLive.ts"
import { type Network, parse } from "../../model/Network.ts"
import * as VisitorHashLive from "../../http/redirects/VisitorHashLive.ts"
import { KeyedHash } from "../../secrets/KeyedHash.ts"
import * as TargetPolicy from "../../http/links/TargetPolicy.ts"
import { s_us } from "../world/Time.ts"
import type { World } from "../world/World.ts"
import type { VirtualResponse } from "./VirtualNode.ts"

/** The only reverse proxy that nodes believe: it says whom a request is from, and from which country. */
export const trustedProxy = "198.51.100.7"

/** The header in which it says the country. */
export const countryHeader = "x-country"

/** How every node finds where visitors come from, and who they are, by the code of production. It has no state. */
export const originsBy = (hash: typeof KeyedHash.Service) =>
  Effect.runSync(
    Layer.mergeAll(
      VisitorHashLive.layer,
      VisitorCountryLive.layer({ geoIpFile: Option.none(), countryHeader: Option.some(countryHeader) })
    ).pipe(
      Layer.provideMerge(ClientAddress.layer([parse("198.51.100.0/24") as Network])),
      // Only a file of addresses is read.
      Layer.provide([Layer.succeed(KeyedHash, hash), FileSystem.layerNoop({})]),
      Layer.build,
      Effect.scoped
    )
  )

/** What targets begin with at which visitors are told that a link has ended. */
export const endedUrls = "https://ended.example.com/"

/** And what those begin with where a domain has no such link. */
export const missingUrls = `${endedUrls}nothing-here/`

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Whether a link led to its target by an answer, with whatever status: not to where visitors are sent once it has ended. */
export const isLed = ({ location, status }: Pick<VirtualResponse, "location" | "status">): boolean =>
  redirectStatuses.has(status) && location?.startsWith(endedUrls) !== true

/** What targets begin with to which no link may lead from a moment on: microseconds since the world's beginning. */
export const blockedUrls = "https://blocked.example.com/"
export const blockedFrom_us = 20 * s_us

/** Forbids links to lead into private networks. */
const noPrivateTargets: TargetPolicy.TargetPolicyService = Effect.runSync(
  TargetPolicy.TargetPolicy.pipe(
    Effect.provide(
      TargetPolicy.layer({ blocklistFile: Option.none(), blockPrivate: true }).pipe(
        Layer.provide(FileSystem.layerNoop({}))
      )
    ),
    Effect.scoped
  )
)

/** Where links may lead in a world: not into private networks, and from a moment on not to one host, which some have led to until then. */
export const targetPolicy = (world: World): TargetPolicy.TargetPolicyService => ({
  faultOf: (url) =>
    url.startsWith(blockedUrls) && world.now_us >= blockedFrom_us
      ? "leads to a host that is blocked here (blocked.example.com)"
      : noPrivateTargets.faultOf(url)
})
