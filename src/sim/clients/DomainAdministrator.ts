import type { ChangingDomain } from "../deployment/ChangingDomain.ts"
import { announced_us } from "../deployment/ChangingDomain.ts"
import { changingHost, ownHost } from "../deployment/FurtherDomains.ts"
import { adminHeaders } from "../deployment/StubServices.ts"
import { missingUrls } from "../deployment/Visitors.ts"
import type { DomainAct } from "../History.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us } from "../world/Time.ts"
import type { World } from "../world/World.ts"
import type { Requests } from "./Requests.ts"

/** How long the administrator waits between two acts, on average. */
const pause_us = 900 * ms_us

/** What they do, each as often as it stands here. */
const acts = [
  "add",
  "add",
  "prove",
  "prove",
  "verify",
  "verify",
  "verify",
  "change",
  "change",
  "list",
  "remove",
  "refused"
] as const

/** What is read of a domain that was added. */
interface Added {
  readonly proof: { readonly file: { readonly content: string } }
}

const path = `/api/v1/domains/${changingHost}`

/** An administrator who adds, proves, verifies, changes and removes one domain over HTTP, in any order. */
export class DomainAdministrator {
  readonly #world: World
  readonly #requests: Requests
  readonly #domain: ChangingDomain
  readonly #chance: Chance
  /** Of the domain that was added last, as far as it is known. */
  #token: string | undefined
  #isServed = false
  #targets = 0

  constructor(world: World, requests: Requests, domain: ChangingDomain) {
    this.#world = world
    this.#requests = requests
    this.#domain = domain
    this.#chance = world.chance("administrator of domains")
  }

  /** Works until `until_us`. */
  start(until_us: number) {
    const wait_us = announced_us + this.#chance.waiting(pause_us)
    if (this.#world.now_us + wait_us > until_us) return
    this.#world.after(wait_us - announced_us, null, () => {
      const act = this.#chance.pick(acts)
      const isComing = act === "verify" && !this.#isServed && this.#domain.shownToken === this.#token
      if (isComing || (act === "remove" && this.#isServed)) this.#domain.whenChanged()
      this.#world.after(announced_us, null, () => this.#do(act, () => this.start(until_us)))
    })
  }

  #do(act: (typeof acts)[number], done: () => void) {
    switch (act) {
      case "prove":
        if (this.#token !== undefined) this.#domain.show(this.#token, this.#chance.pick(["txt", "file"]))
        return done()
      case "add":
        return this.#ask(
          { act },
          "POST",
          "/api/v1/domains",
          { host: changingHost.toUpperCase() },
          done,
          (body) => {
            this.#token = (JSON.parse(body) as Added).proof.file.content
          }
        )
      case "verify":
        return this.#ask({ act }, "POST", `${path}/verify`, undefined, done, () => {
          this.#isServed = true
        })
      case "change": {
        const target = this.#chance.happens(0.3) ? null : `${missingUrls}${++this.#targets}`
        return this.#ask({ act, target }, "PATCH", path, { targets: { unknown: target } }, done)
      }
      case "refused": {
        const target = `http://${ownHost}/`
        return this.#ask({ act, target }, "PATCH", path, { targets: { unknown: target } }, done)
      }
      case "list":
        return this.#ask({ act }, "GET", "/api/v1/domains", undefined, done)
      case "remove":
        return this.#ask({ act }, "DELETE", path, undefined, done, () => {
          this.#isServed = false
          this.#token = undefined
        })
    }
  }

  /** `told` has the body of an answer by which it was done. */
  #ask(
    about: DomainAct,
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    body: object | undefined,
    done: () => void,
    told: (body: string) => void = () => {}
  ) {
    this.#requests.send(
      [{ client: "administrator", kind: "domain", about }],
      {
        method,
        path,
        headers: adminHeaders,
        ...(body !== undefined && { body: JSON.stringify(body) })
      },
      ([exchange], answer) => {
        if (answer !== undefined) {
          const { body, status } = answer.response
          exchange!.body = body
          if (status >= 200 && status < 300) told(body)
        }
        done()
      }
    )
  }
}
