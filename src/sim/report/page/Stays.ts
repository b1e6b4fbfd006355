import { lockBase } from "../../../storage/keys/ShardOwnership.ts"
import type { RunResult } from "../../Run.ts"

/** Something that a process had, as long as it had it. */
export interface Stay {
  readonly what: string
  readonly process: string
  readonly from_us: number
  readonly to_us: number
}

/** Who has what, as time goes on. */
class Stays {
  readonly #done: Array<Stay> = []
  readonly #open = new Map<string, Omit<Stay, "to_us">>()

  enter(what: string, process: string, from_us: number) {
    const name = `${process} ${what}`
    if (!this.#open.has(name)) this.#open.set(name, { what, process, from_us })
  }

  /** Ends what fits. */
  leave(to_us: number, fits: (stay: Omit<Stay, "to_us">) => boolean) {
    for (const [name, stay] of Array.from(this.#open)) {
      if (!fits(stay)) continue
      this.#open.delete(name)
      this.#done.push({ ...stay, to_us })
    }
  }

  /** All of them, by their beginning. */
  end(end_us: number): ReadonlyArray<Stay> {
    this.leave(end_us, () => true)
    return this.#done.toSorted((one, other) => one.from_us - other.from_us)
  }
}

/** Where actors lived; a process that dies ends what lived in it. */
export const actorStays = ({ evidence: { end_us, journal } }: RunResult): ReadonlyArray<Stay> => {
  const stays = new Stays()
  for (const entry of journal) {
    const { at_us, by } = entry
    if (entry.tag === "activated") stays.enter(entry.actor, by, at_us)
    if (entry.tag === "deactivated") {
      stays.leave(at_us, ({ process, what }) => process === by && what === entry.actor)
    }
    if (entry.tag === "killed" || entry.tag === "ended") stays.leave(at_us, ({ process }) => process === by)
  }
  return stays.end(end_us)
}

/** Who had the newest claim of each pool shard, where it is not known where actors lived. */
export const claimStays = ({ evidence: { end_us, journal } }: RunResult): ReadonlyArray<Stay> => {
  const stays = new Stays()
  for (const entry of journal) {
    const { at_us, by } = entry
    if (entry.tag === "killed" || entry.tag === "ended") stays.leave(at_us, ({ process }) => process === by)
    if (entry.tag !== "claimed") continue
    const what = `PoolShard/${entry.shard}`
    stays.leave(at_us, (stay) => stay.what === what && stay.process !== by)
    stays.enter(what, by, at_us)
  }
  return stays.end(end_us)
}

/** What the database's sessions of runners are called, before the name of the process. */
const session = "linkmint-runner-"

/** Who had the database's lock of each of the cluster's shards, of a run whose trace was kept. */
export const lockStays = ({ events, evidence: { end_us } }: RunResult): ReadonlyArray<Stay> => {
  const stays = new Stays()
  for (const { at_us, detail, kind, who } of events) {
    if (kind !== "locked" && kind !== "unlocked") continue
    const by = who.slice(session.length)
    for (const lock of detail.split(" ")) {
      const what = `shard ${Number(lock) - lockBase}`
      if (kind === "locked") stays.enter(what, by, at_us)
      else stays.leave(at_us, (stay) => stay.process === by && stay.what === what)
    }
  }
  return stays.end(end_us)
}
