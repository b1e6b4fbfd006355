import { signal } from "@preact/signals"

// What this browser keeps for the page. A browser may refuse to keep anything: the page then works without.

/** Reads what is kept under a name; `undefined` where there is nothing that can be read. */
export const read = <A>(name: string): A | undefined => {
  try {
    const text = localStorage.getItem(`linkmint.${name}`)
    return text === null ? undefined : (JSON.parse(text) as A)
  } catch {
    return undefined
  }
}

/** Keeps a value under a name, or forgets it (`undefined`). */
export const write = (name: string, value: unknown): void => {
  try {
    if (value === undefined) localStorage.removeItem(`linkmint.${name}`)
    else localStorage.setItem(`linkmint.${name}`, JSON.stringify(value))
  } catch {
    // Nothing depends on it.
  }
}

/** A list that is kept under a name, empty at first, and what replaces it. */
export const list = <A>(name: string) => {
  const items = signal<ReadonlyArray<A>>(read(name) ?? [])
  const set = (next: ReadonlyArray<A>): void => {
    items.value = next
    write(name, next.length === 0 ? undefined : next)
  }
  return { items, set }
}
