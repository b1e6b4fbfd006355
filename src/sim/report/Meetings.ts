/** What was under way in processes when faults struck them. A pair is a fault and an operation: a call of a store, or a message to an actor (`send` and its tag). */
export class Meetings {
  /** How often each pair met, by `pairOf`. */
  readonly counts = new Map<string, number>()
  /** Every operation that was ever under way. */
  readonly operations = new Set<string>()
  /** By process, how many of each operation are under way. */
  readonly #underWay = new Map<string, Map<string, number>>()

  /** Notes that a process begins an operation. Returns what is to be called at its end, once or more often. */
  begin(process: string, operation: string): () => void {
    this.operations.add(operation)
    const own = this.#underWay.get(process) ?? new Map<string, number>()
    this.#underWay.set(process, own)
    own.set(operation, (own.get(operation) ?? 0) + 1)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      own.set(operation, own.get(operation)! - 1)
    }
  }

  /** Notes that a fault strikes some processes, or the `only` operation of them. */
  strike(fault: string, processes: ReadonlyArray<string>, only?: string) {
    for (const process of processes) {
      for (const [operation, count] of this.#underWay.get(process) ?? []) {
        if (count === 0 || (only !== undefined && only !== operation)) continue
        const pair = pairOf(fault, operation)
        this.counts.set(pair, (this.counts.get(pair) ?? 0) + 1)
      }
    }
  }

  /** A process is dead. */
  forget(process: string) {
    this.#underWay.delete(process)
  }
}

const between = " × "

/** The name of a pair. */
export const pairOf = (fault: string, operation: string): string => `${fault}${between}${operation}`

/** The pairs of faults and operations that both came, and never met, in the order of their names. */
export const unmet = (
  faults: Iterable<string>,
  operations: Iterable<string>,
  met: Readonly<Record<string, number>>
): ReadonlyArray<string> => {
  const all = Array.from(operations)
  return Array.from(faults, (fault) => all.map((operation) => pairOf(fault, operation)))
    .flat()
    .filter((pair) => met[pair] === undefined)
    .toSorted()
}

/** Who does an operation: the actor, or the part of a node. */
const actors: ReadonlyArray<readonly [actor: string, operations: RegExp]> = [
  ["KeyRange", /^KeyRangeStore\.|^send Mint$/],
  ["PoolShard", /^Key(Stock|Pool|File)\.|^send (Lease|Return|Status)$/],
  ["UrlMapping", /^(LinkStore|GuardedCreates)\.|^send (Create|Resolve|Update|Delete|Visit)/],
  ["LinkSweep", /^LinkLifetime\./],
  ["Visits", /^VisitStore\./],
  ["users", /^(AccountStore|QuotaStore|WebhookStore|Webhook)\./]
]

const actorOf = (operation: string) =>
  actors.find(([, operations]) => operations.test(operation))?.[0] ?? "node"

/** For each fault, how many operations of each actor it met, of how many there are; and which it never met. */
export const tableOf = (
  faults: ReadonlyArray<string>,
  operations: ReadonlyArray<string>,
  met: Readonly<Record<string, number>>
): ReadonlyArray<ReadonlyArray<string>> => {
  const names = [...actors.map(([actor]) => actor), "node"].filter((actor) =>
    operations.some((operation) => actorOf(operation) === actor)
  )
  const rows = faults.toSorted().map((fault) => [
    fault,
    ...names.map((actor) => {
      const own = operations.filter((operation) => actorOf(operation) === actor)
      const seen = own.filter((operation) => met[pairOf(fault, operation)] !== undefined)
      return `${seen.length}/${own.length}`
    })
  ])
  return [["fault", ...names], ...rows]
}
