import { changingHost, hostOf, ownHost } from "../deployment/FurtherDomains.ts"
import { adminKey } from "../deployment/StubServices.ts"
import type { StrayWish } from "../History.ts"
import type { Chance } from "../world/Chance.ts"
import type { World } from "../world/World.ts"
import type { Requests } from "./Requests.ts"

/** How likely a turn of a client is one of theirs, where there are further domains. */
const share = 0.02

/** How likely one of them asks whether a host may have a certificate; otherwise for what is served elsewhere, with the administrator's key, for a home page, or for a path at which nothing is. */
const certificateShare = 0.3
const programShare = 0.2
const homeShare = 0.6

/** Hosts of no domain. */
const strangers = ["nowhere.test", `${ownHost}.nowhere.test`] as const

const homes = ["/", "/?from=letter"] as const
/** What is served at the service's own host alone. */
const ofPrograms = ["/api/v1/links", "/api/v1/users?limit=1", "/metrics", "/openapi.json"] as const
const paths = ["/docs/2026/plan.html", "/favicon.png?v=2", "/a.b/c"] as const

/** Those who ask at a domain for what no link can be: visitors of its home page and of lost paths, and reverse proxies that want to know for which hosts they may get certificates. */
export class Strays {
  readonly #requests: Requests
  readonly #chance: Chance
  readonly #domains: ReadonlyArray<number>
  readonly #comesAndGoes: boolean

  /** `domains`: the numbers of further domains that stay; `comesAndGoes`: whether there is one that does. */
  constructor(world: World, requests: Requests, domains: ReadonlyArray<number>, comesAndGoes: boolean) {
    this.#chance = world.chance("strays")
    this.#requests = requests
    this.#domains = domains
    this.#comesAndGoes = comesAndGoes
  }

  /** Whether a turn of a client is one of theirs. */
  happens(): boolean {
    return this.#domains.length > 0 && this.#chance.happens(share)
  }

  ask(client: string, done: () => void) {
    if (this.#chance.happens(certificateShare)) return this.#askForCertificate(client, done)
    const chance = this.#chance
    const domain = chance.pick(this.#domains)
    const isOfProgram = chance.happens(programShare)
    const url = chance.pick<string>(isOfProgram ? ofPrograms : chance.happens(homeShare) ? homes : paths)
    const stray: StrayWish = { host: hostOf(domain), url, isBrowser: chance.happens(0.7) }
    const isHead = chance.happens(0.1)
    this.#requests.send(
      [{ client, kind: "stray", stray, isHead }],
      {
        method: isHead ? "HEAD" : "GET",
        path: url,
        headers: {
          host: stray.host,
          accept: stray.isBrowser ? "text/html" : "application/json",
          ...(isOfProgram && { "x-api-key": adminKey })
        },
        ...(!isOfProgram && { orphan: { domains: [domain], isSure: true } })
      },
      () => done()
    )
  }

  #askForCertificate(client: string, done: () => void) {
    const hosts = [
      ownHost,
      ...this.#domains.map(hostOf),
      ...strangers,
      ...(this.#comesAndGoes ? [changingHost] : [])
    ]
    const host = this.#chance.pick(hosts)
    const written = this.#chance.happens(0.2) ? host.toUpperCase() : host
    const stray: StrayWish = { host, url: `/health/certificate?domain=${written}`, isBrowser: false }
    this.#requests.send(
      [{ client, kind: "stray", stray, direct: this.#chance.happens(0.5) }],
      { method: "GET", path: stray.url, headers: { accept: "application/json" } },
      () => done()
    )
  }
}
