import { textOf } from "../deployment/FurtherDomains.ts"
import { adminKey } from "../deployment/StubServices.ts"
import type { Chance } from "../world/Chance.ts"
import type { World } from "../world/World.ts"
import { commonTag } from "./Drafts.ts"
import type { Requests } from "./Requests.ts"

/** Links of a page of a list at most: all that most runs make, or few; pages that are asked for at most; and how likely a list is of the links with the tag that many have. */
const limits = [500, 40, 15] as const
const pagesMax = 80
const byTagShare = 0.3

/** What is read of the answer to a page of a list. */
interface ListAnswer {
  readonly data: ReadonlyArray<{ readonly key: string; readonly domain?: string }>
  readonly nextCursor: string | null
  readonly partial?: true
}

/** Lists links page by page. */
export class Lists {
  readonly #world: World
  readonly #requests: Requests
  readonly #chance: Chance

  constructor(world: World, requests: Requests, chance: Chance) {
    this.#world = world
    this.#requests = requests
    this.#chance = chance
  }

  /** Begins a list, of which only the last page has what all of them had. `done` is told when that was answered, or one was not. */
  begin(client: string, done: () => void) {
    const since_us = this.#world.now_us
    const archived = this.#chance.pick(["false", "true", "any"] as const)
    const tag = this.#chance.happens(byTagShare) ? commonTag : undefined
    const limit = this.#chance.pick(limits)
    const asked = `/api/v1/links?limit=${limit}&archived=${archived}${tag === undefined ? "" : `&tag=${tag}`}`
    const listed: Array<string> = []
    const ask = (pages: number, cursor?: string) =>
      this.#requests.send(
        [{ client, kind: "list", archived, tag, since_us }],
        {
          method: "GET",
          path: cursor === undefined ? asked : `${asked}&cursor=${cursor}`,
          headers: { "x-api-key": adminKey }
        },
        ([exchange], answer) => {
          if (answer?.response.status !== 200) return done()
          const { data, nextCursor, partial } = JSON.parse(answer.response.body) as ListAnswer
          for (const { domain, key } of data) listed.push(textOf(key, domain))
          if (partial !== undefined) return done()
          if (nextCursor !== null && pages < pagesMax) return ask(pages + 1, nextCursor)
          if (nextCursor === null) exchange!.listed = listed
          done()
        }
      )
    ask(1)
  }
}
