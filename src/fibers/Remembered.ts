import { LRUCache } from "lru-cache"
import { atMost } from "./LruCacheOptions.ts"

/** A function of a text that keeps its latest `count` results, for texts that come again and again. `f` depends on nothing else. */
export const remembering = <A extends object | string>(count: number, f: (text: string) => A) => {
  const cache = new LRUCache<string, A>(atMost(count))
  return (text: string): A => {
    const known = cache.get(text)
    if (known !== undefined) return known
    const found = f(text)
    cache.set(text, found)
    return found
  }
}
