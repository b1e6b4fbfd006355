import { Cause, Chunk, Context, Effect, Exit } from "effect"
import { type PackedKeys, toStrings } from "../../keys/PackedKeys.ts"
import { plainKeyOf } from "../../keys/QualifiedKey.ts"
import type { Link } from "../../model/Link.ts"
import { GuardedCreates } from "../../storage/links/GuardedCreates.ts"
import { LinkStore } from "../../storage/links/LinkStore.ts"
import type { Journal } from "../Journal.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"

/** How a call or a message ended; `undefined` where whoever waited gave up. */
type Ending = Exit.Exit<unknown, unknown> | undefined

const isSuccess = (ending: Ending): ending is Exit.Success<unknown, unknown> =>
  ending !== undefined && Exit.isSuccess(ending)

/** Whether what failed has certainly left nothing behind. */
const isKnownUndone = (ending: Ending): boolean =>
  ending !== undefined &&
  Exit.isFailure(ending) &&
  Chunk.some(
    Cause.failures(ending.cause),
    (error) => (error as { readonly applied?: string }).applied === "no"
  )

const packedOf = (value: unknown) => toStrings((value as { readonly keys: PackedKeys }).keys)

/**
 * Notes in the journal what each process comes to know of the keys that it was given: which a lease brought, and which were in a create or a return that failed.
 * So a process that still lives accounts for each of its keys.
 */
export const makeTrail = (journal: Journal) => {
  /** Who was given each key last, and knows what became of it. */
  const holders = new Map<string, string>()
  /** Keys with an unknown outcome, the targets that they may have, and who does not know. */
  const doubtful = new Map<string, { readonly by: string; readonly url: string }>()
  const note = (tag: "refused" | "unsure" | "unconfirmed", by: string, all: ReadonlyArray<string>) => {
    const keys = all.filter((key) => holders.get(key) === by)
    if (keys.length === 0) return
    // What it does not know it never learns: a key with an unknown outcome is not used again. It may ask once more whether a key is bound.
    if (tag === "unsure") keys.forEach((key) => holders.delete(key))
    journal.add({ tag, by, keys })
  }
  const created = (by: string, links: ReadonlyArray<Link>, ending: Ending) => {
    for (const { custom, key: text, url } of links) {
      if (custom) continue
      const key = plainKeyOf(text)
      const doubt = doubtful.get(key)
      // A pool that forgets has given it to another process as well.
      if (doubt?.by === by && doubt.url !== url) journal.add({ tag: "reused", by, key })
      const isUnknown = !isSuccess(ending) && !isKnownUndone(ending)
      if (isUnknown && holders.get(key) === by) doubtful.set(key, { by, url })
    }
    if (isSuccess(ending)) {
      const outcomes = ending.value as ReadonlyArray<unknown>
      const superseded = links.filter((_, index) => outcomes[index] === "superseded")
      return note(
        "refused",
        by,
        superseded.map(({ key }) => plainKeyOf(key))
      )
    }
    note(
      isKnownUndone(ending) ? "refused" : "unsure",
      by,
      links.map(({ key }) => plainKeyOf(key))
    )
  }
  return {
    /** A message that a process sent has come to its end. */
    message: ({ id: by }: VirtualProcess, tag: string, payload: unknown, ending: Ending, took_us: number) => {
      // They are sent again under the same id alone, whose keys their pool takes once.
      if (tag === "Return" && !isSuccess(ending)) note("unsure", by, packedOf(payload))
      if (tag !== "Lease" || !isSuccess(ending)) return
      const keys = packedOf(ending.value)
      for (const key of keys) {
        holders.set(key, by)
        // A pool that forgets gives it to somebody else, or again to this one.
        doubtful.delete(key)
      }
      journal.add({ tag: "handed", by, keys, took_us })
    },
    /** A message that a process sent, or its answer, may have come to nobody, or the process gave it up. */
    lost: ({ id: by }: VirtualProcess, tag: string, payload: unknown, interrupted_us: number | undefined) => {
      if (tag === "Return") journal.add({ tag: "unreturned", by, keys: packedOf(payload), interrupted_us })
    },
    /** The ports by which a process binds its links, and asks about their keys. */
    over: <A>({ id: by }: VirtualProcess, ports: Context.Context<A | LinkStore | GuardedCreates>) => {
      const links = Context.get(ports, LinkStore)
      const guarded = Context.get(ports, GuardedCreates)
      const noted = Context.add(ports, LinkStore, {
        ...links,
        insertMany: (batch) =>
          Effect.onExit(links.insertMany(batch), (exit) => Effect.sync(() => created(by, batch, exit))),
        takenAmong: (keys) =>
          Effect.onExit(links.takenAmong(keys), (exit) =>
            Effect.sync(() => {
              if (!isSuccess(exit)) note("unconfirmed", by, keys)
            })
          )
      } satisfies typeof LinkStore.Service)
      return Context.add(noted, GuardedCreates, {
        ...guarded,
        bindMany: (batch) =>
          Effect.onExit(guarded.bindMany(batch), (exit) =>
            Effect.sync(() =>
              created(
                by,
                batch.map(({ link }) => link),
                exit
              )
            )
          )
      } satisfies typeof GuardedCreates.Service)
    }
  }
}

/** See {@link makeTrail}. */
export type KeyTrail = ReturnType<typeof makeTrail>
