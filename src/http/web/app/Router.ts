import { signal } from "@preact/signals"

/** Where the page is: path and query. */
export const here = signal(new URL(location.href))

const arrive = () => {
  here.value = new URL(location.href)
}

/** Goes to another place of the page. */
export const go = (to: string, { replaces = false } = {}): void => {
  const from = here.value.pathname
  history[replaces ? "replaceState" : "pushState"](null, "", to)
  arrive()
  if (here.value.pathname !== from) scrollTo(0, 0)
}

/** Whether a path is the page's own, and not a short link or a document. */
const isOwn = (path: string) => path === "/" || path.startsWith("/app/")

addEventListener("popstate", arrive)

document.addEventListener("click", (event) => {
  const anchor = event.target instanceof Element ? event.target.closest("a") : null
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
  if (anchor === null || !isPlain || event.defaultPrevented || anchor.target !== "") return
  if (anchor.origin !== location.origin || !isOwn(anchor.pathname) || anchor.hash !== "") return
  event.preventDefault()
  go(anchor.pathname + anchor.search)
})
