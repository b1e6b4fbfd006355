// What was promised to clients: the links that were acknowledged.

/** Links whose URL is changed again and again, at most. */
export const changingMax = 20

/** Links that were acknowledged, and what became of the other creates and changes. */
export class Acknowledged {
  /** Their URLs, by key. */
  readonly links: Map<string, string>
  /** Creates without a 201. They may have been applied or not. */
  unacknowledged = 0
  /** Every URL that a link had whose last change has an unknown outcome, or may have been forgotten: it may have any of them. */
  readonly either = new Map<string, ReadonlySet<string>>()
  /** Links that PostgreSQL has forgotten, where it may, with their URLs: they are gone, and their keys may not be given to others. */
  readonly forgotten = new Map<string, string>()
  /** What was acknowledged since PostgreSQL may forget; null while it may not. */
  suspects: Set<string> | null = null
  /** All URLs that a changing link ever had. */
  readonly #had = new Map<string, Set<string>>()
  /** The URLs that a changing link had, the last one first, while nobody changes it. */
  readonly #changing = new Map<string, Array<string>>()
  #changingNow = 0

  constructor(links: Iterable<readonly [string, string]> = []) {
    this.links = new Map(links)
  }

  /** Notes a link that was just acknowledged. Gives which promise its key breaks, if any. */
  add(key: string, url: string): "C1" | "C9" | undefined {
    if (this.forgotten.has(key) || (this.suspects?.has(key) ?? false)) return "C9"
    if (this.links.has(key)) return "C1"
    this.links.set(key, url)
    this.suspects?.add(key)
    return undefined
  }

  /** Keeps a link for changes, if more of them are wanted. */
  keepForChanges(key: string, url: string): boolean {
    if (this.#changing.size + this.#changingNow >= changingMax) return false
    this.#changing.set(key, [url])
    this.#had.set(key, new Set([url]))
    return true
  }

  /** Whether a link ever had this URL, or may have had it. */
  had(key: string, url: string): boolean {
    return this.#had.get(key)?.has(url) ?? false
  }

  /** A link to change to a URL, until `changed` is told; undefined where there is none. */
  takeForChange(url: string): { readonly key: string; readonly urls: ReadonlyArray<string> } | undefined {
    for (const [key, urls] of this.#changing) {
      this.#changing.delete(key)
      this.#changingNow++
      this.#had.get(key)?.add(url)
      return { key, urls }
    }
    return undefined
  }

  /** How a change to `url` ended. Where nobody knows, the link is not changed again. */
  changed(
    { key, urls }: { readonly key: string; readonly urls: ReadonlyArray<string> },
    url: string,
    isAcknowledged: boolean
  ): void {
    this.#changingNow--
    if (isAcknowledged) {
      this.#changing.set(key, [url, ...urls])
      this.links.set(key, url)
    } else {
      this.either.set(key, new Set([url, ...urls]))
    }
  }

  /** Whether a link may have this URL. */
  isRight(key: string, url: string | undefined): boolean {
    if (url === undefined) return false
    return this.links.get(key) === url || (this.either.get(key)?.has(url) ?? false)
  }

  /** From now on PostgreSQL may forget what is acknowledged. */
  mayForget(): void {
    this.suspects = new Set()
  }

  /** PostgreSQL may forget nothing more, and of what was acknowledged meanwhile it has these keys. Gives how many are forgotten. */
  remembered(keys: ReadonlySet<string>): number {
    let count = 0
    for (const key of this.suspects ?? []) {
      if (keys.has(key)) continue
      this.forgotten.set(key, this.links.get(key)!)
      this.links.delete(key)
      count++
    }
    this.suspects = null
    // Their last changes may be forgotten.
    for (const [key, urls] of this.#changing) this.either.set(key, new Set(urls))
    this.#changing.clear()
    return count
  }
}
