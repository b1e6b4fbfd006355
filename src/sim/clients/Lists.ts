import { UrlParams } from "@effect/platform"
import { hostOf, textOf } from "../deployment/FurtherDomains.ts"
import { adminKey } from "../deployment/StubServices.ts"
import type { Users } from "../deployment/Users.ts"
import type { ListPages, ListWish, ShownLink } from "../History.ts"
import type { Chance } from "../world/Chance.ts"
import type { World } from "../world/World.ts"
import { commonTag } from "./Drafts.ts"
import type { Requests } from "./Requests.ts"

/** Links of a page of a list at most: all that most runs make, or few; and pages that are asked for at most. */
const limits = [500, 40, 15] as const
const pagesMax = 80
/** How likely a list is of the links with the tag that many have, or without it; of one domain; of those that have a text; has its number of links; and is a user's own. */
const byTagShare = 0.3
const byDomainShare = 0.2
const searchShare = 0.2
const totalShare = 0.3
const byUserShare = 0.3
/** How likely it names whose links it is of. */
const ownerShare = 0.2

/** Texts that are searched for. Many targets and keys have one. */
const searched = ["1", "7", "A", "EXAMPLE", "nowhere"] as const

/** Draws which links a list, or a bulk edit, is of; `domains`: those of which it can be alone, if any. */
export const drawFilter = (
  chance: Chance,
  domains: ReadonlyArray<number>
): Pick<ListWish, "archived" | "tag" | "notTag" | "q" | "domain"> => {
  const archived = chance.pick(["false", "true", "any"] as const)
  const hasTag = chance.happens(byTagShare)
  const isWithout = hasTag && chance.happens(0.3)
  return {
    archived,
    tag: hasTag && !isWithout ? commonTag : undefined,
    notTag: isWithout ? commonTag : undefined,
    q: chance.happens(searchShare) ? chance.pick(searched) : undefined,
    domain: domains.length > 0 && chance.happens(byDomainShare) ? chance.pick(domains) : undefined
  }
}

/** Draws the API key of a user whose own links a list, or a bulk edit, is of; `undefined`: it is an administrator's. */
export const drawApiKey = (chance: Chance, users: Users): string | undefined =>
  users.names.length > 0 && chance.happens(byUserShare)
    ? users.anyKeyOf(chance.pick(users.names), chance)
    : undefined

/** Draws whose links alone are asked for: nobody's; who is no administrator says so of their own links. */
export const drawOwner = (chance: Chance, users: Users, apiKey: string | undefined): string | undefined =>
  users.names.length > 0 && chance.happens(ownerShare)
    ? apiKey === undefined
      ? chance.pick(users.names)
      : users.ownerOf(apiKey)
    : undefined

/** What is read of the answer to a page of a list. */
interface ListAnswer {
  readonly data: ReadonlyArray<ShownLink & { readonly key: string; readonly domain?: string }>
  readonly nextCursor: string | null
  readonly total?: { readonly count: number; readonly isExact: boolean }
  readonly partial?: true
}

/** Lists links page by page. */
export class Lists {
  readonly #world: World
  readonly #requests: Requests
  readonly #users: Users
  readonly #domains: ReadonlyArray<number>
  readonly #chance: Chance
  readonly #owners: Chance

  /** `domains`: those that lists can be asked of alone, if any. */
  constructor(
    world: World,
    requests: Requests,
    users: Users,
    domains: ReadonlyArray<number>,
    chance: Chance
  ) {
    this.#world = world
    this.#domains = domains
    this.#requests = requests
    this.#users = users
    this.#chance = chance
    this.#owners = world.chance("owners of lists")
  }

  /** Begins a list, of which only the last page has what all of them had. `done` is told when that was answered, or one was not. */
  begin(client: string, done: () => void) {
    const since_us = this.#world.now_us
    const apiKey = drawApiKey(this.#chance, this.#users)
    const list: ListWish = {
      ...drawFilter(this.#chance, this.#domains),
      owner: drawOwner(this.#owners, this.#users, apiKey),
      orderBy: this.#chance.pick(["createdAt-desc", "createdAt-asc", "visits-desc", "lastVisit-desc"]),
      limit: this.#chance.pick(limits)
    }
    const { domain, limit, ...texts } = list
    const asked = UrlParams.toString(
      UrlParams.fromInput({
        ...texts,
        limit,
        domain: domain === undefined ? undefined : hostOf(domain),
        total: this.#chance.happens(totalShare) || undefined
      })
    )
    const pages: Array<ListPages["pages"][number]> = []
    let total: ListPages["total"]
    const ask = (cursor?: string) =>
      this.#requests.send(
        [{ client, kind: "list", list, since_us, apiKey }],
        {
          method: "GET",
          path: `/api/v1/links?${asked}${cursor === undefined ? "" : `&cursor=${cursor}`}`,
          headers: { "x-api-key": apiKey ?? adminKey }
        },
        ([exchange], answer) => {
          if (answer?.response.status !== 200) return done()
          const { data, nextCursor, partial, total: said } = JSON.parse(answer.response.body) as ListAnswer
          if (pages.length === 0 && said?.isExact === true)
            total = { count: said.count, at_us: this.#world.now_us }
          pages.push(data.map((shown) => ({ key: textOf(shown.key, shown.domain), shown })))
          const isAll = nextCursor === null && partial === undefined
          if (partial === undefined && nextCursor !== null && pages.length < pagesMax) return ask(nextCursor)
          exchange!.pages = { pages, total, isWhole: isAll }
          done()
        }
      )
    ask()
  }
}
