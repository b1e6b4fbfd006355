import { Cause, Context, Effect, Either, Exit, Option } from "effect"
import { settled } from "../../fibers/Direct.ts"
import type { KeyBuffer } from "../../actors/keys/KeyBuffer.ts"
import { plainKeyOf } from "../../keys/QualifiedKey.ts"
import type { Link } from "../../model/Link.ts"
import { GuardedCreates } from "../../storage/links/GuardedCreates.ts"
import { LinkStore } from "../../storage/links/LinkStore.ts"
import { PartlyFailed, type StorageError } from "../../storage/StorageError.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import { isKnownUndone } from "./KeyTrail.ts"

/** Those of some links of a call that certainly were not bound, as its failure says. */
const refusedOf = (links: ReadonlyArray<Link>, exit: Exit.Exit<unknown, StorageError>) => {
  if (Exit.isSuccess(exit)) return []
  const failure = Option.getOrUndefined(Cause.failureOption(exit.cause))
  if (!(failure instanceof PartlyFailed)) return isKnownUndone(exit) ? links : []
  return links.filter((_, place) => {
    const outcome = failure.outcomes[place]!
    return Either.isLeft(outcome) && outcome.left.applied === "no"
  })
}

/**
 * Keys that nodes have taken out of their buffers, and that nobody has been asked to bind since, or whose links were certainly refused: where links are in several databases, a node puts aside those
 * that will not do now (`KeyChoice`). It has them until it is killed.
 */
export class AsideKeys {
  readonly #keys = new Map<string, Set<string>>()
  #lost = 0

  /** How many there were in processes that were killed. */
  get lost(): number {
    return this.#lost
  }

  of({ id }: VirtualProcess): ReadonlySet<string> {
    return this.#keys.get(id) ?? new Set()
  }

  /** A process was killed. */
  killed({ id }: VirtualProcess) {
    this.#lost += this.#keys.get(id)?.size ?? 0
    this.#keys.delete(id)
  }

  /** A process's buffer, of which is noted what is taken. */
  over({ id }: VirtualProcess, buffer: typeof KeyBuffer.Service): typeof KeyBuffer.Service {
    const own = new Set<string>()
    this.#keys.set(id, own)
    const back = (keys: ReadonlyArray<string>) => keys.forEach((key) => own.delete(key))
    return {
      ...buffer,
      takeNow: () => {
        const key = buffer.takeNow()
        if (key !== undefined) own.add(key)
        return key
      },
      takeMany: (count) => Effect.tap(buffer.takeMany(count), (keys) => keys.forEach((key) => own.add(key))),
      putBack: (keys) =>
        Effect.suspend(() =>
          Effect.zipRight(
            Effect.sync(() => back(keys)),
            buffer.putBack(keys)
          )
        )
    }
  }

  /** The ports by which a process binds links: their keys are aside no more, unless they are refused. */
  asked<A>({ id }: VirtualProcess, ports: Context.Context<A | LinkStore | GuardedCreates>) {
    const links = Context.get(ports, LinkStore)
    const guarded = Context.get(ports, GuardedCreates)
    const ask = (asked: ReadonlyArray<Link>) => {
      for (const { key } of asked) for (const own of this.#keys.values()) own.delete(plainKeyOf(key))
    }
    const answered = <B>(asked: ReadonlyArray<Link>, exit: Exit.Exit<B, StorageError>) => {
      // One that was killed meanwhile has none.
      for (const { custom, key } of refusedOf(asked, exit)) {
        if (!custom) this.#keys.get(id)?.add(plainKeyOf(key))
      }
      return exit
    }
    return ports.pipe(
      Context.add(LinkStore, {
        ...links,
        insertMany: (rows) => {
          ask(rows)
          return settled(links.insertMany(rows), (exit) => answered(rows, exit))
        }
      }),
      Context.add(GuardedCreates, {
        ...guarded,
        bindMany: (batch) =>
          Effect.suspend(() => {
            const rows = batch.map(({ link }) => link)
            ask(rows)
            return settled(guarded.bindMany(batch), (exit) => answered(rows, exit))
          })
      })
    )
  }
}
