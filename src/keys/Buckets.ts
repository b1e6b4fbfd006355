import { hash } from "node:crypto"

/** How many buckets the links of a deployment are divided into. It is fixed: with another number links would be looked for in other databases. */
export const bucketCount = 256

/** The domain of links that name none: all links, as long as a deployment has one domain. Numbers of further domains count up from 1. */
export const defaultDomain = 0

/**
 * The bucket of a link, 0 … 255: the first byte of the SHA-256 (FIPS 180-4) of the text `domain/key`, with the domain's number in decimal digits without leading zeros, and
 * the key with `A` … `Z` as `a` … `z`. Keys are ASCII.
 *
 * Keys that differ in case share a bucket, so that one database can decide which of them exist in a domain that ignores case.
 */
export const bucketOf = (domain: number, key: string): number =>
  Number.parseInt(hash("sha256", `${domain}/${key.toLowerCase()}`, "hex").slice(0, 2), 16)

/**
 * The bucket of a guard of creates, by its name, and of all that is kept under another text than a key. What follows a name's last `@` decides alone, so that `name@key` is kept, and moves, with the
 * link.
 */
export const bucketOfName = (name: string): number =>
  bucketOf(defaultDomain, name.slice(name.lastIndexOf("@") + 1))

/** The bucket of a subject of visits: a link's is that of its key; an owner's is that of their id. */
export const bucketOfSubject = (subject: string): number => bucketOfName(subject.split("@", 1)[0]!)
