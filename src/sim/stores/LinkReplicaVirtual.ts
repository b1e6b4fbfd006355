import { Effect } from "effect"
import type { Link } from "../../model/Link.ts"
import type { LinkStore } from "../../storage/links/LinkStore.ts"
import { StorageError } from "../../storage/StorageError.ts"
import type { JournalEntry } from "../Journal.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import type { VirtualServer } from "../world/VirtualServer.ts"
import type { World } from "../world/World.ts"

type FindMany = (typeof LinkStore.Service)["findMany"]

const operation = "LinkReplicas.findMany"

/** What it follows. */
interface Followed {
  /** The row that the database has of a key now. */
  readonly row: (key: string) => Link | undefined
}

/** A server that follows the database at some distance, and from which nodes read links while the database is away. */
export class LinkReplicaVirtual {
  readonly #world: World
  readonly #server: VirtualServer
  readonly #database: Followed
  readonly #lag_us: number
  readonly #rows = new Map<string, Link>()

  constructor(world: World, server: VirtualServer, database: Followed, lag_us: number) {
    this.#world = world
    this.#server = server
    this.#database = database
    this.#lag_us = lag_us
  }

  /** Is told of each change of the database, at its moment. */
  follow(entry: JournalEntry) {
    switch (entry.tag) {
      case "bound":
      case "changed":
        return this.#copyLater(entry.link.key)
      case "deleted":
      case "expired":
      case "freed":
        return this.#copyLater(entry.key)
    }
  }

  /** The replica as a process reads it. */
  of(process: VirtualProcess): FindMany {
    return (keys) =>
      this.#server
        .call(process, operation, () => keys.map((key) => this.#rows.get(key) ?? null))
        .pipe(Effect.mapError(({ applied, reason }) => new StorageError({ operation, applied, reason })))
  }

  #copyLater(key: string) {
    const row = this.#database.row(key)
    this.#world.after(this.#lag_us, null, () => {
      if (row === undefined) this.#rows.delete(key)
      else this.#rows.set(key, row)
    })
  }
}
