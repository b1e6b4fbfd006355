import { Effect, Layer } from "effect"
import type { Link } from "../Link.ts"
import { LinkStore } from "./LinkStore.ts"

/** `LinkStore` in this process's memory: the reference that other backends are compared with. Nothing survives it. */
export const make = Effect.sync(() => {
  const links = new Map<string, Link>()
  return LinkStore.of({
    insertMany: (batch) =>
      Effect.sync(() =>
        batch.map((link) => {
          if (links.has(link.key)) return false
          links.set(link.key, link)
          return true
        })
      ),
    findMany: (keys) => Effect.sync(() => keys.map((key) => links.get(key) ?? null)),
    deleteMany: (batch) =>
      Effect.sync(() =>
        batch.map(({ at, key }) => {
          const link = links.get(key)
          if (link === undefined || link.deletedAt !== null) return false
          links.set(key, { ...link, deletedAt: at, updatedAt: at })
          return true
        })
      ),
    takenAmong: (keys) => Effect.sync(() => new Set(keys.filter((key) => links.has(key))))
  })
})

/** A store of its own for each build of the layer. */
export const layer: Layer.Layer<LinkStore> = Layer.effect(LinkStore, make)
