import { signal } from "@preact/signals"

/** What the browser keeps beside an address of its history. */
interface Entry {
  /** Its place among those of this page, so that the way back to another one is known. */
  readonly index: number
  /** The cursors of the pages of a list that come before this one. */
  readonly cursors?: ReadonlyArray<string>
}

const entryNow = (): Entry | undefined => (history.state as Entry | null) ?? undefined

let index = entryNow()?.index ?? 0
history.replaceState({ ...entryNow(), index }, "")

/** Where the page is: path and query. */
export const here = signal(new URL(location.href))

/** The cursors of the pages before this one, where the way here led over them. */
export const cursorsBefore = (): ReadonlyArray<string> | undefined => entryNow()?.cursors

/** How far down each place was scrolled when it was left, in pixels, by its index. */
const scrolled = new Map<number, number>()

// Places come back when their content does, which the browser does not wait for.
history.scrollRestoration = "manual"
addEventListener("scroll", () => scrolled.set(index, scrollY), { passive: true })

let restoring: AbortController | undefined

/** Scrolls down as soon as the content is there, unless somebody scrolls before. */
const restore = (y: number) => {
  const content = document.getElementById("app")
  if (content === null) return
  const { signal } = (restoring = new AbortController())
  const isThere = () => content.scrollHeight - innerHeight >= y - 1
  const observer = new ResizeObserver(() => {
    if (!isThere()) return
    observer.disconnect()
    scrollTo(0, y)
  })
  observer.observe(content)
  signal.addEventListener("abort", () => observer.disconnect())
  for (const type of ["wheel", "touchmove", "keydown"]) {
    addEventListener(type, () => restoring?.abort(), { signal, once: true, passive: true })
  }
}

/** Asked before the page goes elsewhere: whether it must stay, for what would be lost. */
let guard: ((leave: () => void) => boolean) | undefined

/** Has `asks` asked before the page goes elsewhere. It says whether the page stays, and may call `leave` later. Gives what ends that. */
export const guardLeaving = (asks: (leave: () => void) => boolean): (() => void) => {
  guard = asks
  return () => {
    if (guard === asks) guard = undefined
  }
}

const leaveAnyway = (leave: () => void) => () => {
  guard = undefined
  leave()
}

/** What to do at an address. */
interface GoOptions {
  readonly replaces?: boolean
  readonly cursors?: ReadonlyArray<string>
}

/** Goes to another place of the page. */
export const go = (to: string, { cursors, replaces = false }: GoOptions = {}): void => {
  const from = here.value
  // A filter that comes into the address takes nothing away.
  const isLeaving = new URL(to, location.href).pathname !== from.pathname
  if (isLeaving && guard?.(leaveAnyway(() => go(to, { ...(cursors && { cursors }), replaces })))) return
  restoring?.abort()
  if (!replaces) index++
  const entry: Entry = { index, ...(cursors && { cursors }) }
  history[replaces ? "replaceState" : "pushState"](entry, "", to)
  here.value = new URL(location.href)
  if (here.value.pathname !== from.pathname || cursors !== undefined) scrollTo(0, 0)
}

/** Whether the next arrival is the return from one that was refused. */
let isReturning = false

addEventListener("popstate", () => {
  const arrived = entryNow()?.index ?? 0
  const steps = arrived - index
  if (isReturning) {
    isReturning = false
    return
  }
  if (guard?.(leaveAnyway(() => history.go(steps)))) {
    isReturning = true
    history.go(-steps)
    return
  }
  restoring?.abort()
  index = arrived
  here.value = new URL(location.href)
  restore(scrolled.get(index) ?? 0)
})

/** Whether a path is the page's own, and not a short link or a document. */
const isOwn = (path: string) => path === "/" || path.startsWith("/app/")

document.addEventListener("click", (event) => {
  const anchor = event.target instanceof Element ? event.target.closest("a") : null
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
  if (anchor === null || !isPlain || event.defaultPrevented || anchor.target !== "") return
  if (anchor.origin !== location.origin || !isOwn(anchor.pathname) || anchor.hash !== "") return
  event.preventDefault()
  go(anchor.pathname + anchor.search)
})
