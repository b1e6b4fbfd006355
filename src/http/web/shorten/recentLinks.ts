import * as Kept from "../app/Kept.ts"
import type { Link } from "../api/Types.ts"

/** Links that a browser remembers at most. */
const recentMax = 8

/** A link that was made here without an account. */
export type RecentLink = Pick<Link, "key" | "shortUrl" | "url">

const { items, set } = Kept.list<RecentLink>("recent")

/** The newest first. They are kept in this browser alone. */
export const recent = items

/** Remembers a link. */
export const remember = ({ key, shortUrl, url }: Link): void =>
  set([{ key, shortUrl, url }, ...recent.value.filter((link) => link.key !== key)].slice(0, recentMax))

/** Forgets all of them; the links themselves stay. */
export const forget = (): void => set([])
