import type { Link, LinkChange } from "../api/Types.ts"
import { addressOf } from "../ui/address.ts"
import { formatUrl } from "../ui/format.ts"
import { words } from "./words.ts"

/** What few links have, as inputs have it. */
export interface ExtrasDraft {
  readonly expiredUrl: string
  readonly forwardPath: boolean
  readonly forwardQuery: boolean
  readonly queryPrecedence: string
  readonly cardTitle: string
  readonly cardDescription: string
  readonly cardImage: string
  readonly note: string
  readonly publicStats: boolean
}

/** The inputs of a link that is to be made, or of one. */
export const extrasDraftOf = (link?: Link): ExtrasDraft => ({
  expiredUrl: link?.expiredUrl ?? "",
  forwardPath: link?.forwardPath ?? false,
  forwardQuery: link?.forwardQuery ?? false,
  queryPrecedence: link?.queryPrecedence ?? "append",
  cardTitle: link?.card?.title ?? "",
  cardDescription: link?.card?.description ?? "",
  cardImage: link?.card?.image ?? "",
  note: link?.note ?? "",
  publicStats: link?.publicStats ?? false
})

/** The card of an input; `null` where it has nothing. */
const cardOf = ({ cardDescription, cardImage, cardTitle }: ExtrasDraft): LinkChange => {
  const [title, description, image] = [cardTitle.trim(), cardDescription.trim(), cardImage.trim()]
  if (title === "" && description === "" && image === "") return { card: null }
  return {
    card: {
      ...(title !== "" && { title }),
      ...(description !== "" && { description }),
      ...(image !== "" && { image: addressOf(image) })
    }
  }
}

/** How each field is said to the service; `null` clears. */
export const extrasSaid: { readonly [Name in keyof ExtrasDraft]: (draft: ExtrasDraft) => LinkChange } = {
  expiredUrl: ({ expiredUrl }) => ({ expiredUrl: expiredUrl.trim() === "" ? null : addressOf(expiredUrl) }),
  forwardPath: ({ forwardPath }) => ({ forwardPath }),
  forwardQuery: ({ forwardQuery }) => ({ forwardQuery }),
  queryPrecedence: ({ queryPrecedence }) => ({
    queryPrecedence: queryPrecedence as NonNullable<LinkChange["queryPrecedence"]>
  }),
  cardTitle: cardOf,
  cardDescription: cardOf,
  cardImage: cardOf,
  note: ({ note }) => ({ note: note.trim() === "" ? null : note.trim() }),
  publicStats: ({ publicStats }) => ({ publicStats })
}

/** The fields of the service whose faults are shown beside their inputs. */
export const extrasFields: ReadonlyArray<string> = [
  "expiredUrl",
  "forwardPath",
  "queryPrecedence",
  "card.title",
  "card.description",
  "card.image",
  "note",
  "publicStats"
]

/** What the service is told of a new link: the fields that differ from those of a link without extras. */
export const extrasOfNew = (draft: ExtrasDraft) => {
  const plain = extrasDraftOf()
  const chosen = (Object.keys(extrasSaid) as Array<keyof ExtrasDraft>).filter(
    (name) => draft[name] !== plain[name]
  )
  const said = Object.entries(
    Object.assign({}, ...chosen.map((name) => extrasSaid[name](draft))) as LinkChange
  )
  return Object.fromEntries(said.filter(([, value]) => value !== null))
}

const precedences = { request: "requestHolds", target: "targetHolds" } as const

/** What people are shown of a link's extras: what each is, and what it says. */
export const shownExtras = (link: Link): ReadonlyArray<readonly [name: string, text: string]> => {
  const t = words()
  const { archived, card, expiredUrl, forwardPath, note, publicStats, queryPrecedence } = link
  const shown: Array<readonly [string, string]> = []
  if (archived === true) shown.push([t.archived, t.archivedText])
  if (note !== undefined) shown.push([t.note, note])
  if (publicStats === true) shown.push([t.stats, t.statsArePublic])
  if (expiredUrl !== undefined) shown.push([t.expiredUrl, formatUrl(expiredUrl)])
  if (forwardPath === true) shown.push([t.path, t.pathAppended])
  if (queryPrecedence !== undefined) shown.push([t.query, t[precedences[queryPrecedence]]])
  if (card !== undefined) {
    const parts = [card.title, card.description, card.image && formatUrl(card.image)]
    shown.push([t.card, parts.filter((part) => part !== undefined).join(" · ")])
  }
  return shown
}
