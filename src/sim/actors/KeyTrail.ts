import { Cause, Chunk, Context, Effect, Exit, Option } from "effect"
import { settled } from "../../fibers/Direct.ts"
import { type PackedKeys, toStrings } from "../../keys/PackedKeys.ts"
import { plainKeyOf } from "../../keys/QualifiedKey.ts"
import type { Link } from "../../model/Link.ts"
import { GuardedCreates } from "../../storage/links/GuardedCreates.ts"
import { LinkStore } from "../../storage/links/LinkStore.ts"
import { PartlyFailed } from "../../storage/StorageError.ts"
import type { Journal } from "../Journal.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"

/** How a call or a message ended; `undefined` where whoever waited gave up. */
type Ending = Exit.Exit<unknown, unknown> | undefined

const isSuccess = (ending: Ending): ending is Exit.Success<unknown, unknown> =>
  ending !== undefined && Exit.isSuccess(ending)

/** Whether what failed has certainly left nothing behind. */
export const isKnownUndone = (ending: Ending): boolean =>
  ending !== undefined &&
  Exit.isFailure(ending) &&
  Chunk.some(
    Cause.failures(ending.cause),
    (error) => (error as { readonly applied?: string }).applied === "no"
  )

/** What becomes of a guarded create that has not touched its key. */
const leavesItsKey = (outcome: unknown): boolean => outcome === "superseded" || outcome === "apart"

/** Copies of a key that were handed out and not given back, and the targets that a create of it has, or may have, been done for. */
interface Copies {
  count: number
  readonly targets: Set<string>
}

const packedOf = (value: unknown) => toStrings((value as { readonly keys: PackedKeys }).keys)

/**
 * Notes in the journal what each process comes to know of the keys that it was given: which a lease brought, and which were in a create or a return that failed.
 * So a process that still lives accounts for each of its keys.
 */
export const makeTrail = (journal: Journal) => {
  /** Who was given each key last, and knows what became of it. */
  const holders = new Map<string, string>()
  /** Keys with an unknown outcome, and who does not know. */
  const doubtful = new Map<string, string>()
  /** A pool that forgets hands a key out several times, to one process as well: each copy may be used for one target. */
  const copies = new Map<string, Copies>()
  /** Ids of returns. */
  const returned = new Set<string>()
  const copiesOf = (key: string): Copies => {
    const known = copies.get(key) ?? { count: 0, targets: new Set() }
    copies.set(key, known)
    return known
  }
  const note = (tag: "refused" | "unsure" | "unreceived", by: string, all: ReadonlyArray<string>) => {
    const keys = all.filter((key) => holders.get(key) === by)
    if (keys.length === 0) return
    // What it does not know it never learns: a key with an unknown outcome is not used again.
    if (tag !== "refused") keys.forEach((key) => holders.delete(key))
    journal.add({ tag, by, keys })
  }
  const created = (by: string, links: ReadonlyArray<Link>, ending: Ending): void => {
    const failure =
      ending !== undefined && Exit.isFailure(ending)
        ? Option.getOrUndefined(Cause.failureOption(ending.cause))
        : undefined
    if (failure instanceof PartlyFailed) {
      // Each link has an outcome of its own.
      return failure.outcomes.forEach((outcome, place) =>
        created(
          by,
          [links[place]!],
          Exit.map(Effect.runSyncExit(outcome), (answer) => [answer])
        )
      )
    }
    const outcomes = isSuccess(ending) ? (ending.value as ReadonlyArray<unknown>) : undefined
    const isUnknown = outcomes === undefined && !isKnownUndone(ending)
    for (const [place, { custom, key: text, url }] of links.entries()) {
      if (custom) continue
      const key = plainKeyOf(text)
      const { count, targets } = copiesOf(key)
      const isLeft = targets.has(url) || targets.size < count
      if (doubtful.get(key) === by && !isLeft) journal.add({ tag: "reused", by, key })
      if (isUnknown && holders.get(key) === by) doubtful.set(key, by)
      if (isUnknown || (outcomes !== undefined && !leavesItsKey(outcomes[place]))) targets.add(url)
    }
    if (outcomes !== undefined) {
      const left = links.filter((_, index) => leavesItsKey(outcomes[index]))
      return note(
        "refused",
        by,
        left.map(({ key }) => plainKeyOf(key))
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
      if (tag === "Return") {
        const { returnId } = payload as { readonly returnId: string }
        // One that failed is sent again under the same id, whose keys their pool takes once.
        if (!returned.has(returnId)) packedOf(payload).forEach((key) => copiesOf(key).count--)
        returned.add(returnId)
        if (!isSuccess(ending)) note("unreceived", by, packedOf(payload))
      }
      if (tag !== "Lease" || !isSuccess(ending)) return
      const keys = packedOf(ending.value)
      for (const key of keys) {
        holders.set(key, by)
        copiesOf(key).count++
        // A pool that forgets gives it to somebody else, or again to this one.
        doubtful.delete(key)
      }
      journal.add({ tag: "handed", by, keys, took_us })
    },
    /** A message that a process sent, or its answer, may have come to nobody, or the process gave it up. */
    lost: ({ id: by }: VirtualProcess, tag: string, payload: unknown, interrupted_us: number | undefined) => {
      if (tag === "Return") journal.add({ tag: "unreturned", by, keys: packedOf(payload), interrupted_us })
    },
    /** The ports by which a process binds its links. */
    over: <A>({ id: by }: VirtualProcess, ports: Context.Context<A | LinkStore | GuardedCreates>) => {
      const links = Context.get(ports, LinkStore)
      const guarded = Context.get(ports, GuardedCreates)
      const noted = Context.add(ports, LinkStore, {
        ...links,
        insertMany: (batch) =>
          settled(links.insertMany(batch), (exit) => {
            created(by, batch, exit)
            return exit
          })
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
