import { Effect, Layer } from "effect"
import type { Link } from "../Link.ts"
import { isRepeat, LinkStore } from "./LinkStore.ts"

const shown = (link: Link | undefined): Link | null => {
  if (link === undefined) return null
  const { createId: _, ...row } = link
  return row
}

/** `LinkStore` over a table of rows by their keys, which others may look into. */
export const makeOver = (links: Map<string, Link>): typeof LinkStore.Service =>
  LinkStore.of({
    insertMany: (batch) =>
      Effect.sync(() =>
        batch.map((link) => {
          const present = links.get(link.key)
          if (present !== undefined) return isRepeat(present, link)
          links.set(link.key, link)
          return true
        })
      ),
    findMany: (keys) => Effect.sync(() => keys.map((key) => shown(links.get(key)))),
    deleteMany: (batch) =>
      Effect.sync(() =>
        batch.map(({ at, deleteId, key }) => {
          const link = links.get(key)
          if (link === undefined) return false
          if (link.deletedAt !== null) return deleteId !== undefined && link.createId === deleteId
          const { createId: _, ...row } = link
          links.set(key, {
            ...row,
            deletedAt: at,
            updatedAt: at,
            ...(deleteId !== undefined && { createId: deleteId })
          })
          return true
        })
      ),
    takenAmong: (keys) => Effect.sync(() => new Set(keys.filter((key) => links.has(key))))
  })

/** `LinkStore` in this process's memory: the reference that other backends are compared with. Nothing survives it. */
export const make = Effect.sync(() => makeOver(new Map()))

/** A store of its own for each build of the layer. */
export const layer: Layer.Layer<LinkStore> = Layer.effect(LinkStore, make)
