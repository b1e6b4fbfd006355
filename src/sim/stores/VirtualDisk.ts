import { Effect } from "effect"
import { count, type PackedKeys, toStrings } from "../../keys/PackedKeys.ts"
import type { KeyFile } from "../../storage/keys/KeyFile.ts"
import * as KeyFileMemory from "./KeyFileMemory.ts"
import type { Journal } from "../Journal.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import { VirtualServer } from "../world/VirtualServer.ts"
import { storeCall, type StoreOptions } from "./StoreCalls.ts"

/** How long an operation may take. */
const answerMax_ms = 4_000

/** The disk of one node: what is on it outlives the process. */
export class VirtualDisk {
  readonly #server: VirtualServer
  readonly #journal: Journal
  readonly #keys: Array<string> = []

  /** `name`: whose disk it is. */
  constructor({ begins, crashPoint, faults, journal, network, world }: StoreOptions, name: string) {
    this.#journal = journal
    this.#server = new VirtualServer(world, network, {
      name: `disk-of-${name}`,
      faults,
      answerMax_ms,
      inOrder: true,
      crashPoint,
      unanswered: journal.unanswered,
      ...(begins !== undefined && { begins })
    })
  }

  /** The keys in its file that were not taken. */
  get keys(): ReadonlyArray<string> {
    return this.#keys
  }

  /** Has keys at the beginning of the file again that were taken: a file does so only where it is to be broken. */
  putBack(keys: PackedKeys) {
    this.#keys.unshift(...toStrings(keys))
  }

  /** The key file, as a process uses it. */
  keyFile(process: VirtualProcess, width: number): typeof KeyFile.Service {
    const file = KeyFileMemory.makeOver(this.#keys, width)
    const call = storeCall(this.#server, process)
    const by = process.id
    return {
      width,
      append: (keys) =>
        call("KeyFile.append", () =>
          Effect.runSyncExit(
            Effect.tap(file.append(keys), () =>
              this.#journal.add({ tag: "stocked", by, keys: toStrings(keys) })
            )
          )
        ),
      take: (wanted) =>
        call("KeyFile.take", () =>
          Effect.runSyncExit(
            Effect.tap(file.take(wanted), (keys) => {
              if (count(keys) > 0) this.#journal.add({ tag: "preloaded", by, keys: toStrings(keys) })
            })
          )
        ),
      size: file.size
    }
  }
}
