import { hostOf, textOf } from "../deployment/FurtherDomains.ts"
import { adminHeaders } from "../deployment/StubServices.ts"
import type { Users } from "../deployment/Users.ts"
import type { Edited, EditWish, ListWish } from "../History.ts"
import type { Chance } from "../world/Chance.ts"
import type { World } from "../world/World.ts"
import type { Choices } from "./Choices.ts"
import { commonTag } from "./Drafts.ts"
import { drawApiKey, drawFilter, drawOwner } from "./Lists.ts"
import type { Requests } from "./Requests.ts"

/** Links that a page looks at, at most: as many as the service allows, or few. */
const limits = [200, 20] as const

/** Pages that are asked for at most: more than all links of a run have, also if each page ends early. */
const pagesMax = 60

/** How likely an edit deletes links, or counts them alone; adds a tag, or takes one away, beside the title; and has a filter. */
const deleteShare = 0.15
const countShare = 0.15
const tagShare = 0.3
const filterShare = 0.4

/** What else a change is of in some edits. */
const otherChoices: ReadonlyArray<Choices> = [
  { archived: true },
  { archived: null },
  { crawlable: true },
  { crawlable: null, redirectStatus: 307 },
  { redirectStatus: null, expiredUrl: null },
  { note: "of many", publicStats: true },
  { note: null, publicStats: null },
  { password: null }
]
const otherShare = 0.4

/** A tag that only bulk edits give. */
const editedTag = "edited"

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
  readonly total?: { readonly count: number; readonly isExact: boolean }
}

/**
 * Gives all links of a filter a title, page by page, or changes some choice or adds and takes away tags as well; deletes those that have two digits in their keys or targets, which are few; or counts the links of a filter. Each title is one that nobody
 * else gives.
 */
export class BulkEdits {
  readonly #world: World
  readonly #requests: Requests
  readonly #users: Users
  readonly #domains: ReadonlyArray<number>
  readonly #chance: Chance
  readonly #owners: Chance
  readonly #others: Chance
  #count = 0

  /** `domains`: those whose links can be edited alone, if any. */
  constructor(world: World, requests: Requests, users: Users, domains: ReadonlyArray<number>) {
    this.#world = world
    this.#requests = requests
    this.#users = users
    this.#domains = domains
    this.#chance = world.chance("bulk edits")
    this.#owners = world.chance("owners of bulk edits")
    this.#others = world.chance("other bulk edits")
  }

  /** Begins an edit. `done` is told when its last page was answered, or one was not. */
  begin(client: string, done: () => void) {
    const since_us = this.#world.now_us
    const chance = this.#chance
    const limit = chance.pick(limits)
    const edit = this.#wish()
    const everyone = { archived: "false" } as const
    const apiKey = drawApiKey(chance, this.#users)
    const list: ListWish = {
      ...(edit.act === "delete"
        ? { archived: "any", q: String(chance.between(10, 99)) }
        : chance.happens(filterShare)
          ? drawFilter(chance, this.#domains)
          : everyone),
      owner: drawOwner(this.#owners, this.#users, apiKey),
      orderBy: "createdAt-desc",
      limit
    }
    const other = this.#others.happens(otherShare) ? this.#others.pick(otherChoices) : {}
    const choices = { title: `edit ${++this.#count}`, ...other }
    const { act, ...tags } = edit
    const { archived, domain, notTag, owner, q, tag } = list
    const asked = {
      filter: { archived, tag, notTag, q, owner, ...(domain !== undefined && { domain: hostOf(domain) }) },
      limit,
      ...(act === "delete" ? { delete: true } : { change: { ...choices, ...tags } }),
      ...(act === "count" && { dryRun: true })
    }
    const edited: Array<Edited> = []
    const ask = (pages: number, cursor?: string) =>
      this.#requests.send(
        [
          {
            client,
            kind: "edit",
            choices: act === "change" ? choices : undefined,
            list,
            edit,
            since_us,
            apiKey
          }
        ],
        {
          method: "POST",
          path: "/api/v1/links/bulk-edit",
          headers: { ...adminHeaders, ...(apiKey !== undefined && { "x-api-key": apiKey }) },
          body: JSON.stringify({ ...asked, cursor })
        },
        ([exchange], answer) => {
          if (answer?.response.status !== 200) return done()
          const { nextCursor, partial, results, total } = JSON.parse(answer.response.body) as Page
          if (act === "count") {
            if (partial === undefined && total?.isExact === true)
              exchange!.pages = {
                pages: [],
                isWhole: false,
                total: { count: total.count, at_us: this.#world.now_us }
              }
            return done()
          }
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

  #wish(): EditWish {
    const chance = this.#chance
    if (chance.happens(deleteShare)) return { act: "delete" }
    if (chance.happens(countShare)) return { act: "count" }
    return {
      act: "change",
      ...(chance.happens(tagShare) && { addTags: [editedTag] }),
      ...(chance.happens(tagShare) && { removeTags: [chance.pick([editedTag, commonTag])] })
    }
  }
}
