import { LRUCache } from "lru-cache"
import { hash } from "node:crypto"
import { plainKeyOf } from "./QualifiedKey.ts"

/** How many buckets the links of a deployment are divided into. It is fixed: with another number links would be looked for in other databases. */
export const bucketCount = 256

/** Texts whose buckets are remembered: a request asks for that of its key several times, for the last time when its visit is written, and the hash takes longer than most else that is done by then. */
const known = new LRUCache<string, number>({ max: 16_384 })

/** Characters of a text that is remembered, at most: minted keys have fewer. V8 keeps a longer one as a part of the text that it was taken from, which can be a whole URL. */
const rememberedLength = 12

/**
 * The bucket of a link, 0 … 255, by the text under which it is stored: the first byte of the SHA-256 (FIPS 180-4) of `0/` and the key with `A` … `Z` as `a` … `z`. Keys are ASCII.
 *
 * The links of a key share a bucket in all domains, so that one database knows whether a minted key is taken in any of them. So do keys that differ in case, so that it can decide which of them exist
 * in a domain that ignores case.
 */
export const bucketOf = (text: string): number => {
  const present = known.get(text)
  if (present !== undefined) return present
  const bucket = Number.parseInt(hash("sha256", `0/${plainKeyOf(text).toLowerCase()}`, "hex").slice(0, 2), 16)
  if (text.length <= rememberedLength) known.set(text, bucket)
  return bucket
}

/**
 * The bucket of a guard of creates, by its name, and of all that is kept under another text than a key. What follows a name's last `@` decides alone, so that `name@key` is kept, and moves, with the
 * link.
 */
export const bucketOfName = (name: string): number => bucketOf(name.slice(name.lastIndexOf("@") + 1))

/** The bucket of a subject of visits: a link's is that of its key; an owner's is that of their id. */
export const bucketOfSubject = (subject: string): number => bucketOfName(subject.split("@", 1)[0]!)
