import { Resolver } from "node:dns"
import { get } from "node:http"
import type { LookupFunction } from "node:net"
import { Context, Duration, Effect, Layer } from "effect"
import { isPrivate } from "../../model/PrivateTarget.ts"
import { lookupPublic } from "../../webhooks/PublicLookup.ts"

/** How long each look may take: both are done within the time that a request has. */
export const lookMax = Duration.seconds(3)

/** Characters that are read of a file at most. */
const fileMax = 1_024

/** Looks at what a host shows. What cannot be read in time is not there. */
export class DomainProofs extends Context.Tag("linkmint/DomainProofs")<
  DomainProofs,
  {
    /** The TXT records of a name, each in one piece. */
    readonly txt: (name: string) => Effect.Effect<ReadonlyArray<string>>
    /** The beginning of what a host answers for a path with 200, at port 80; `null` for anything else. Redirects are not followed. */
    readonly file: (host: string, path: string) => Effect.Effect<string | null>
  }
>() {}

/** Where is looked. */
export interface Places {
  /** Name servers: the system's unless given. */
  readonly servers?: ReadonlyArray<string>
  readonly port: number
  readonly lookup: LookupFunction
}

/** See {@link DomainProofs}. */
export const make = ({ lookup, port, servers }: Places): typeof DomainProofs.Service => {
  const inTime =
    <B>(otherwise: B) =>
    <A>(look: Effect.Effect<A>): Effect.Effect<A | B> =>
      Effect.timeoutTo(look, {
        duration: lookMax,
        onSuccess: (found): A | B => found,
        onTimeout: () => otherwise
      })

  const txt = (name: string) =>
    Effect.async<ReadonlyArray<string>>((resume) => {
      const resolver = new Resolver({ timeout: Duration.toMillis(lookMax) / 2, tries: 2 })
      if (servers !== undefined) resolver.setServers(servers)
      resolver.resolveTxt(name, (error, records) =>
        resume(Effect.succeed(error === null ? records.map((parts) => parts.join("")) : []))
      )
      return Effect.sync(() => resolver.cancel())
    })

  const file = (host: string, path: string) =>
    Effect.async<string | null>((resume) => {
      const end = (text: string | null) => {
        request.destroy()
        resume(Effect.succeed(text))
      }
      const headers = { "user-agent": "Linkmint" }
      const request = get({ host, path, port, lookup, agent: false, headers }, (response) => {
        if (response.statusCode !== 200) return end(null)
        let text = ""
        response.setEncoding("latin1")
        response.on("data", (part: string) => {
          text += part
          if (text.length >= fileMax) end(text.slice(0, fileMax))
        })
        response.on("end", () => end(text))
        response.on("error", () => end(null))
      })
      request.on("error", () => resume(Effect.succeed(null)))
      return Effect.sync(() => void request.destroy())
    })

  return {
    txt: (name) => inTime<ReadonlyArray<string>>([])(txt(name)),
    file: (host, path) => (isPrivate(host) ? Effect.succeed(null) : inTime(null)(file(host, path)))
  }
}

/** By the system's name servers, and by connections to public addresses alone: names are resolved for the connection. */
export const layer: Layer.Layer<DomainProofs> = Layer.succeed(
  DomainProofs,
  make({ port: 80, lookup: lookupPublic })
)
