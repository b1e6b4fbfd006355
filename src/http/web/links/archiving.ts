import { asApiError } from "../api/Client.ts"
import * as Links from "../api/Links.ts"
import type { Link } from "../api/Types.ts"
import { counted, fill } from "../language/fill.tsx"
import { fail, say } from "../ui/Toasts.tsx"
import { words } from "./words.ts"

/** Archives links, or brings them back, one after the other. Those after one that cannot be changed are tried as well, but its fault is told once. */
export const archive = async (
  links: ReadonlyArray<Link>,
  archived: boolean,
  onChanged: (link: Link) => void
): Promise<void> => {
  let fault: unknown
  let count = 0
  for (const link of links) {
    try {
      onChanged(await Links.change(Links.nameOf(link), { archived }))
      count++
    } catch (error) {
      fault ??= error
    }
  }
  if (fault !== undefined) fail(asApiError(fault))
  if (count === 0) return
  const t = words()
  say(
    links.length === 1
      ? fill(archived ? t.isArchived : t.isUnarchived, { key: links[0]!.key })
      : counted(archived ? t.areArchived : t.areUnarchived, count)
  )
}
