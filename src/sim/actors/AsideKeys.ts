import { Context, Effect } from "effect"
import type { KeyBuffer } from "../../actors/keys/KeyBuffer.ts"
import { plainKeyOf } from "../../keys/QualifiedKey.ts"
import { GuardedCreates } from "../../storage/links/GuardedCreates.ts"
import { LinkStore } from "../../storage/links/LinkStore.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"

/**
 * Keys that nodes have taken out of their buffers, and that nobody has been asked to bind since: where links are in several databases, a node puts aside those that will not do now (`KeyChoice`). It
 * has them until it is killed.
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

  /** The ports by which processes bind links: their keys are aside no more. */
  asked<A>(ports: Context.Context<A | LinkStore | GuardedCreates>) {
    const links = Context.get(ports, LinkStore)
    const guarded = Context.get(ports, GuardedCreates)
    const asked = (keys: ReadonlyArray<string>) => {
      for (const key of keys) for (const own of this.#keys.values()) own.delete(plainKeyOf(key))
    }
    return ports.pipe(
      Context.add(LinkStore, {
        ...links,
        insertMany: (rows) =>
          Effect.suspend(() => {
            asked(rows.map(({ key }) => key))
            return links.insertMany(rows)
          })
      }),
      Context.add(GuardedCreates, {
        ...guarded,
        bindMany: (rows) =>
          Effect.suspend(() => {
            asked(rows.map(({ link }) => link.key))
            return guarded.bindMany(rows)
          })
      })
    )
  }
}
