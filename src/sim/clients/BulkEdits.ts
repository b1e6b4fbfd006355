import type { Edited } from "../History.ts"
import { adminHeaders } from "../deployment/StubServices.ts"
import { textOf } from "../deployment/FurtherDomains.ts"
import type { Chance } from "../world/Chance.ts"
import type { World } from "../world/World.ts"
import type { Requests } from "./Requests.ts"

/** Links that a page looks at, at most: as many as the service allows, or few. */
const limits = [200, 20] as const

/** Pages that are asked for at most: more than all links of a run have, also if each page ends early. */
const pagesMax = 60

/** What is read of the answer to a page. */
interface Page {
  readonly results: ReadonlyArray<{
    readonly key: string
    readonly domain?: string
    readonly status: number
    readonly changed?: boolean
  }>
  readonly nextCursor: string | null
  readonly partial?: true
}

/** Gives all links that are in lists one title, page by page. Each edit has a title of its own. */
export class BulkEdits {
  readonly #world: World
  readonly #requests: Requests
  readonly #chance: Chance
  #count = 0

  constructor(world: World, requests: Requests) {
    this.#world = world
    this.#requests = requests
    this.#chance = world.chance("bulk edits")
  }

  /** Begins an edit. `done` is told when its last page was answered, or one was not. */
  begin(client: string, done: () => void) {
    const since_us = this.#world.now_us
    const title = `edit ${++this.#count}`
    const limit = this.#chance.pick(limits)
    const edited: Array<Edited> = []
    const ask = (pages: number, cursor?: string) =>
      this.#requests.send(
        [{ client, kind: "edit", choices: { title }, since_us }],
        {
          method: "POST",
          path: "/api/v1/links/bulk-edit",
          headers: adminHeaders,
          body: JSON.stringify({ filter: {}, change: { title }, limit, cursor })
        },
        ([exchange], answer) => {
          if (answer?.response.status !== 200) return done()
          const { nextCursor, partial, results } = JSON.parse(answer.response.body) as Page
          for (const { changed, domain, key, status } of results)
            edited.push({ key: textOf(key, domain), status, isChanged: changed === true })
          if (partial !== undefined) return done()
          if (nextCursor !== null && pages < pagesMax) return ask(pages + 1, nextCursor)
          if (nextCursor === null) exchange!.edited = edited
          done()
        }
      )
    ask(1)
  }
}
