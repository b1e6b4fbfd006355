/**
 * The key path's protocol: how a key of a range gets into a pool, to a node and to a link, and from there into the stock, while owners change, calls fail and servers forget.
 * `Search` goes through all states of a small deployment. See `docs/key-pipeline.md` for the protocol in words.
 *
 * There is one range, one pool shard, and nodes, each of which may be the owner of both, or believe so. A batch, a lease and a return have one key: what they do to one of their keys
 * they do to each. A call that fails, a frozen process and a late answer need no action of their own: between two steps of a node anything else may happen, and `fails` ends
 * what it was about to do. Not modelled: several databases, keys drawn at random, a pool in memory, and the mark that creates alone raise.
 */

import * as Stores from "./Stores.ts"
import { type Batch, type Database, type Key, type Pool, type Row, without } from "./Stores.ts"

/** What the protocol guards against, beside what the stores do. The search breaks one at a time. */
export const rules = {
  ...Stores.storeRules,
  "the watermark moves before a key is made": true,
  "keys are recorded before they are pushed": true,
  "a record is closed after its push": true,
  "a new owner finishes open records": true,
  "a finished record leaves out bound keys": true,
  "the key of a create that was refused goes back": true,
  "the key of a create with an unknown outcome is not used again": true,
  "the mark moves before keys are used": true,
  "a mark behind its witness is noticed": true,
  "a recovery raises the watermark": true,
  "a recovery empties stock and records": true,
  "another lineage is noticed": true,
  "another timeline is noticed": true,
  "tombstones older than a recovery are not stocked": true
}

/** See {@link rules}. */
export type Rule = keyof typeof rules
export type Rules = Readonly<Record<Rule, boolean>>

/** What a node does as an owner. Its keys, or batches, are nowhere else but where the step before has put them. */
export type Step =
  | { readonly at: "idle" | "serves" }
  /** A claim that is committed; the mark has moved after it; the pool knows its epoch. */
  | { readonly at: "claimed" | "claims the pool" | "reads" }
  /** Open records that were read; those of them that are to be pushed. */
  | { readonly at: "read" | "finishes"; readonly batches: ReadonlyArray<Batch> }
  /** A key that has left the range; the mark has moved after it. */
  | { readonly at: "advanced" | "minted"; readonly key: Key }
  /** A batch from the stock, recorded; one that is recorded and may be pushed. */
  | { readonly at: "took" | "pushes"; readonly batch: Batch }
  | { readonly at: "closes"; readonly ids: ReadonlyArray<string> }

/** A process: its memory is all that it loses when it is killed. */
export interface Node {
  /** What it knows of the database. */
  readonly lineage: number
  readonly timeline: number
  /** Of its claim, or 0; and the greatest one that the pool has refused it with. */
  readonly epoch: number
  readonly seen: number
  /** Of its next batch. */
  readonly sequence: number
  readonly step: Step
  /** Keys that it holds. */
  readonly buffer: ReadonlyArray<Key>
}

/** A create whose node has no answer, and that may still be done; and a return that is delivered once more. */
export type Copy =
  | { readonly kind: "create"; readonly key: Key; readonly create: number }
  | { readonly kind: "return"; readonly key: Key; readonly id: string }

/** The whole deployment. */
export interface State {
  readonly database: Database
  /** What a standby has that does not follow any more; what a replica of the pool has. */
  readonly standby: Database | null
  readonly pool: Pool
  readonly replica: Pool | null
  readonly witness: { readonly mark: number; readonly next: Key }
  /** The node that holds the shard in the cluster. */
  readonly holder: number
  readonly nodes: ReadonlyArray<Node>
  readonly copies: ReadonlyArray<Copy>
  /** Faults, and recycled keys, that may still be. */
  readonly faults: number
  readonly recycles: number
  /** What no process knows. Keys lost by a fault; keys that a server that forgot has put in two places. */
  readonly lost: ReadonlyArray<Key>
  readonly doubled: ReadonlyArray<Key>
  /** By key: how many creates there were of it; the one that was acknowledged and has not been recycled, or 0; and whether another one was acknowledged beside it. */
  readonly creates: ReadonlyArray<number>
  readonly acknowledged: ReadonlyArray<number>
  readonly twice: ReadonlyArray<Key>
  readonly promotions: number
  readonly recoveries: number
  readonly hasPoolForgotten: boolean
}

/** A step of the whole: its name with what it is about, whether it is a fault or a server's forgetting, and which node does it, as an owner. */
export interface Action {
  readonly name: string
  readonly isFault: boolean
  readonly owner?: number
  readonly next: State
}

/** How much is searched. */
export interface Sizes {
  readonly owners: number
  readonly keys: number
  readonly faults: number
  readonly recycles: number
}

const fresh = ({ lineage, timeline }: Database): Node => ({
  lineage,
  timeline,
  epoch: 0,
  seen: 0,
  sequence: 0,
  step: { at: "idle" },
  buffer: []
})

/** Where everything begins. */
export const initial = ({ faults, keys, owners, recycles }: Sizes): State => {
  const database = Stores.emptyDatabase(keys)
  const zeros = Array.from({ length: keys }, () => 0)
  return {
    database,
    standby: null,
    pool: Stores.emptyPool,
    replica: null,
    witness: { mark: 0, next: 0 },
    holder: 0,
    nodes: Array.from({ length: owners }, () => fresh(database)),
    copies: [],
    faults,
    recycles,
    lost: [],
    doubled: [],
    creates: zeros,
    acknowledged: zeros,
    twice: [],
    promotions: 0,
    recoveries: 0,
    hasPoolForgotten: false
  }
}

const isBehind = ({ database, witness }: State): boolean => database.mark < witness.mark

const countOf = (keys: ReadonlyArray<Key>, key: Key): number => keys.filter((one) => one === key).length

const isUnpushed = ({ database, pool }: State, key: Key): boolean =>
  database.rows[key] === null &&
  database.records.some(({ id, keys }) => keys.includes(key) && !pool.known.includes(id))

const handOf = ({ step }: Node): ReadonlyArray<Key> => ("key" in step ? [step.key] : [])

/** Keys that an owner is about to push, and whose record a database that was promoted has forgotten. */
const unrecordedOf = ({ database, pool, promotions }: State, { step }: Node): ReadonlyArray<Key> => {
  if (promotions === 0) return []
  const batches = "batch" in step ? [step.batch] : "batches" in step ? step.batches : []
  const known = [...pool.known, ...database.records.map(({ id }) => id)]
  return batches.flatMap(({ id, keys }) => (known.includes(id) ? [] : keys))
}

/** The batches from which a key can still get into the pool: recorded ones, and those that an owner is about to push. Owners leave bound keys out of what they read. */
const unpushedOf = (state: State, key: Key): number => {
  const { database, nodes, pool } = state
  const isBound = database.rows[key] !== null
  // Whoever has read records of a database that has forgotten some since is told so before it pushes them.
  const isConfirmed = ({ lineage, timeline }: Node) =>
    !isBehind(state) && lineage === database.lineage && timeline === database.timeline
  const about = nodes.flatMap((node) => {
    const { step } = node
    if (step.at === "pushes") return [step.batch]
    const isPushed = step.at === "finishes" || (step.at === "read" && !isBound && isConfirmed(node))
    return isPushed ? step.batches : []
  })
  const recorded = isBound || isBehind(state) ? [] : database.records
  const ids = [...about, ...recorded].flatMap(({ id, keys }) =>
    keys.includes(key) && !pool.known.includes(id) ? [id] : []
  )
  return new Set(ids).size
}

/** Whether a create of a key is under way that nobody waits for. */
const isBeingBound = ({ copies }: State, key: Key): boolean =>
  copies.some((copy) => copy.kind === "create" && copy.key === key)

/** In how many places a key is from which a create may get it, or has it. A record's key is in the pool if the pool knows the batch; nobody uses a database that is behind. */
export const placesOf = (state: State, key: Key): number => {
  const { copies, database, nodes, pool } = state
  const bound = database.rows[key] === null ? 0 : 1
  const held = nodes.reduce(
    (sum, { buffer, step }) =>
      sum + countOf(buffer, key) + (step.at === "minted" && step.key === key ? 1 : 0),
    0
  )
  const stored = isBehind(state) ? 0 : (key >= database.next ? 1 : 0) + countOf(database.stock, key)
  const returning = copies.filter(
    (copy) => copy.kind === "return" && copy.key === key && !pool.known.includes(copy.id)
  ).length
  const isUnderWay = bound === 0 && isBeingBound(state, key) ? 1 : 0
  return bound + held + stored + unpushedOf(state, key) + returning + isUnderWay + countOf(pool.keys, key)
}

/** Whether a key is anywhere at all: then it is not lost. */
const isSomewhere = (state: State, key: Key): boolean =>
  placesOf(state, key) > 0 ||
  (isBehind(state) && key >= state.witness.next) ||
  state.database.rows[key] !== null ||
  state.database.stock.includes(key) ||
  state.nodes.some((node) => handOf(node).includes(key))

const keysOf = ({ database }: State) => database.rows.map((_, key) => key)

const added = (some: ReadonlyArray<Key>, keys: ReadonlyArray<Key>) =>
  [...without(some, keys), ...keys].toSorted((one, other) => one - other)

/** Whether an owner is about to push a key of a record which another one has pushed, and has closed or a create has bound since, and the pool does not know that. */
const isTakenByAnother = ({ database, nodes, pool }: State, key: Key): boolean =>
  nodes.some(
    ({ step }) =>
      step.at === "took" &&
      step.batch.keys.includes(key) &&
      !pool.known.includes(step.batch.id) &&
      (database.rows[key] !== null || database.records.every(({ id }) => id !== step.batch.id))
  )

/** A server has forgotten: keys that are nowhere now are lost with it, and those in two places have been handed out, or will be, once more. */
const forgetting = (state: State, before?: Pool): State => {
  const gone = (key: Key) => before?.keys.includes(key) === true && !state.pool.keys.includes(key)
  const lost = keysOf(state).filter((key) => gone(key) || !isSomewhere(state, key))
  // An owner that has taken stocked keys pushes them when another one has, too, and the pool does not know that any more.
  const isTaken = (key: Key) => before !== undefined && isTakenByAnother(state, key)
  const doubled = keysOf(state).filter((key) => placesOf(state, key) > 1 || isTaken(key))
  return { ...state, lost: added(state.lost, lost), doubled: added(state.doubled, doubled) }
}

/** The next states of a state, under some rules. */
export const actions = (rules: Rules): ((state: State) => ReadonlyArray<Action>) => {
  const database = Stores.database(rules)
  const pool = Stores.pool(rules)

  const withNode = (state: State, index: number, change: Partial<Node>): State => ({
    ...state,
    nodes: state.nodes.with(index, { ...state.nodes[index]!, ...change })
  })

  /** What a claim's end, or an owner's failure, leaves: keys that are not recorded yet, or not any more, are lost. */
  const dropped = (state: State, index: number): State => {
    const node = state.nodes[index]!
    const lost = [...handOf(node), ...unrecordedOf(state, node)]
    const next = withNode(state, index, { epoch: 0, step: { at: "idle" } })
    return { ...next, lost: added(next.lost, lost) }
  }

  const recovered = (state: State): State => {
    const { database, recoveries, witness } = state
    const emptied = rules["a recovery empties stock and records"]
      ? { ...database, stock: [], records: [] }
      : database
    const next = rules["a recovery raises the watermark"]
      ? Math.max(database.next, witness.next)
      : database.next
    return forgetting({
      ...state,
      recoveries: recoveries + 1,
      database: {
        ...emptied,
        next,
        epoch: database.epoch + 1,
        mark: witness.mark + 1,
        lineage: recoveries + 1,
        rows: database.rows.map((row) => row && { ...row, isOld: true })
      }
    })
  }

  /** Moves the mark, and has the witness store it: `Witnessed`. Gives whether what was asked before may be used. */
  const confirmed = (state: State, index: number, reached: Key): readonly [State, boolean] => {
    if (!rules["the mark moves before keys are used"]) return [state, true]
    const node = state.nodes[index]!
    if (isBehind(state) && rules["a mark behind its witness is noticed"]) {
      const next = recovered(state)
      const { lineage, timeline } = next.database
      return [withNode(next, index, { lineage, timeline }), false]
    }
    const { lineage, timeline } = state.database
    const mark = state.database.mark + 1
    const witness = { mark: Math.max(mark, state.witness.mark), next: Math.max(reached, state.witness.next) }
    const isSame =
      (lineage === node.lineage || !rules["another lineage is noticed"]) &&
      (timeline === node.timeline || !rules["another timeline is noticed"])
    const next = { ...state, witness, database: { ...state.database, mark } }
    return [withNode(next, index, { lineage, timeline }), isSame]
  }

  /** What an owner can do next. */
  const owner = (state: State, index: number): ReadonlyArray<readonly [name: string, next: State]> => {
    const node = state.nodes[index]!
    const { epoch, sequence, step } = node
    const own = state.database
    const to = (step: Step, change: Partial<State> = {}, own: Partial<Node> = {}) =>
      withNode({ ...state, ...change }, index, { ...own, step })
    /** The store's answer, or the claim's end where it refuses. */
    const unlessFenced = (answer: Database | undefined, then: (database: Database) => State) =>
      answer === undefined ? dropped(state, index) : then(answer)
    const id = `${epoch}/${sequence}`

    switch (step.at) {
      case "idle": {
        if (state.holder !== index) return []
        const above = Math.max(own.epoch, node.seen)
        const newest = rules["a claim raises the epoch"] ? above + 1 : Math.max(above, 1)
        const claimed = database.claim(own, newest)
        if (claimed === undefined) return []
        return [
          [
            `claims epoch ${newest}`,
            to({ at: "claimed" }, { database: claimed }, { epoch: newest, sequence: 0 })
          ]
        ]
      }
      case "claimed": {
        const [next, isGiven] = confirmed(state, index, 0)
        return [
          [
            "confirms its claim",
            isGiven ? withNode(next, index, { step: { at: "claims the pool" } }) : dropped(next, index)
          ]
        ]
      }
      case "claims the pool": {
        const claimed = pool.claim(state.pool, epoch)
        const refused = () => withNode(dropped(state, index), index, { seen: state.pool.epoch })
        return [
          ["claims the pool", claimed === undefined ? refused() : to({ at: "reads" }, { pool: claimed })]
        ]
      }
      case "reads": {
        const batches = rules["a new owner finishes open records"] ? own.records : []
        return [["reads open records", to(batches.length === 0 ? { at: "serves" } : { at: "read", batches })]]
      }
      case "read": {
        const [next, isGiven] = confirmed(state, index, 0)
        if (!isGiven) return [["confirms records", dropped(next, index)]]
        const isLeftOut = (key: Key) =>
          rules["a finished record leaves out bound keys"] && own.rows[key] !== null
        const batches = step.batches.map(({ id, keys }) => ({
          id,
          keys: keys.filter((key) => !isLeftOut(key))
        }))
        return [["confirms records", withNode(next, index, { step: { at: "finishes", batches } })]]
      }
      case "finishes": {
        const [batch, ...rest] = step.batches
        const pushed = pool.push(state.pool, epoch, batch!)
        const ids = own.records.map(({ id }) => id)
        const then: Step = rest.length === 0 ? { at: "closes", ids } : { at: "finishes", batches: rest }
        return [
          [
            `pushes ${batch!.id} again`,
            pushed === undefined ? dropped(state, index) : to(then, { pool: pushed })
          ]
        ]
      }
      case "serves": {
        const taking = own.stock.map((key) => {
          const batch = { id, keys: [key] }
          const next = unlessFenced(database.take(own, epoch, batch), (database) =>
            to({ at: "took", batch }, { database }, { sequence: sequence + 1 })
          )
          return [`takes key ${key} from the stock`, next] as readonly [string, State]
        })
        // A refill that finds no key tells an owner, too, that it is fenced, or that another database was promoted.
        const [asked, isGiven] = confirmed(state, index, 0)
        if (database.take(own, epoch, { id, keys: [] }) === undefined)
          taking.push(["asks for keys, and is fenced", dropped(state, index)])
        else if (!isGiven) taking.push(["asks for keys", dropped(asked, index)])
        if (own.next >= own.rows.length) return taking
        const moved = rules["the watermark moves before a key is made"] ? database.advance(own)! : own
        return [
          ...taking,
          [`advances over key ${own.next}`, to({ at: "advanced", key: own.next }, { database: moved })]
        ]
      }
      case "took": {
        const [next, isGiven] = confirmed(state, index, 0)
        const { batch } = step
        return [
          [
            "confirms the stock's key",
            isGiven ? withNode(next, index, { step: { at: "pushes", batch } }) : dropped(next, index)
          ]
        ]
      }
      case "advanced": {
        const { key } = step
        const [next, isGiven] = confirmed(state, index, key + 1)
        const moved = { ...next.database, next: Math.max(next.database.next, key + 1) }
        const late = rules["the watermark moves before a key is made"] ? next : { ...next, database: moved }
        const minted = withNode(late, index, { step: { at: "minted", key } })
        const again = withNode({ ...next, lost: added(next.lost, [key]) }, index, { step: { at: "serves" } })
        return [["confirms the watermark", isGiven ? minted : again]]
      }
      case "minted": {
        const batch = { id, keys: [step.key] }
        const then = { at: "pushes", batch } as const
        const sequenced = { sequence: sequence + 1 }
        if (!rules["keys are recorded before they are pushed"])
          return [["records nothing", to(then, {}, sequenced)]]
        const recorded = database.record(own, epoch, batch)
        const early =
          recorded && !rules["a record is closed after its push"] && database.close(recorded, epoch, [id])
        return [
          [
            `records key ${step.key}`,
            unlessFenced(early || recorded, (database) => to(then, { database }, sequenced))
          ]
        ]
      }
      case "pushes": {
        const { batch } = step
        const pushed = pool.push(state.pool, epoch, batch)
        const then: Step = { at: "closes", ids: [batch.id] }
        return [
          [`pushes ${batch.id}`, pushed === undefined ? dropped(state, index) : to(then, { pool: pushed })]
        ]
      }
      case "closes": {
        const closed = database.close(own, epoch, step.ids)
        return [["closes records", unlessFenced(closed, (database) => to({ at: "serves" }, { database }))]]
      }
    }
  }

  /** A link is bound to a key, and `then` says what becomes of the key in the node. */
  const bound = (state: State, key: Key, create: number, isHeard: boolean): State => {
    const inserted = database.insert(state.database, key, create)
    if (inserted === undefined) return state
    if (!isHeard) return { ...state, database: inserted }
    const isTwice = state.acknowledged[key]! !== 0
    return {
      ...state,
      database: inserted,
      acknowledged: state.acknowledged.with(key, create),
      twice: isTwice ? added(state.twice, [key]) : state.twice
    }
  }

  /** What a node can do with the keys that it holds. */
  const node = (state: State, index: number): ReadonlyArray<Action> => {
    const { buffer } = state.nodes[index]!
    const name = (text: string) => `node ${index} ${text}`
    const all: Array<Action> = []
    const can = (text: string, next: State) => all.push({ name: name(text), isFault: false, next })
    const fault = (text: string, next: State) => {
      if (state.faults > 0)
        all.push({ name: name(text), isFault: true, next: { ...next, faults: state.faults - 1 } })
    }
    for (const key of new Set(state.pool.keys)) {
      const left = { ...state, pool: pool.lease(state.pool, [key])! }
      can(`leases key ${key}`, withNode(left, index, { buffer: added(buffer, [key]) }))
      fault(`leases key ${key}, and does not hear it`, { ...left, lost: added(state.lost, [key]) })
    }
    for (const key of buffer) {
      const without_ = withNode(state, index, { buffer: without(buffer, [key]) })
      const create = state.creates[key]! + 1
      const created = { ...without_, creates: state.creates.with(key, create) }
      can(`binds key ${key}`, bound(created, key, create, true))
      can(`is refused key ${key}`, rules["the key of a create that was refused goes back"] ? state : without_)
      // Its statement may be under way for some time.
      const isLeft = rules["the key of a create with an unknown outcome is not used again"]
      fault(
        `does not hear whether key ${key} is bound`,
        withNode({ ...created, copies: [...state.copies, { kind: "create", key, create }] }, index, {
          buffer: isLeft ? without(buffer, [key]) : buffer
        })
      )
      const id = `return ${state.faults}`
      can(`returns key ${key}`, {
        ...without_,
        pool: { ...state.pool, keys: [...state.pool.keys, key].toSorted((one, other) => one - other) }
      })
      fault(`returns key ${key}, and the return comes again`, {
        ...without_,
        pool: pool.giveBack(state.pool, id, [key]),
        copies: [...state.copies, { kind: "return", key, id }]
      })
    }
    const own = state.nodes[index]!
    const lost = [...handOf(own), ...unrecordedOf(state, own), ...buffer]
    fault("is killed", {
      ...state,
      nodes: state.nodes.with(index, fresh(state.database)),
      lost: added(state.lost, lost)
    })
    if (state.nodes[index]!.step.at !== "idle") fault("fails as an owner", dropped(state, index))
    if (state.holder !== index) fault("is given the shard", { ...state, holder: index })
    if (isBehind(state) && rules["a mark behind its witness is noticed"])
      can("recovers the database", recovered(state))
    return all
  }

  /** What happens to links, by clients and by the sweep, to creates that nobody waits for, and to returns that come again. */
  const links = (state: State): ReadonlyArray<Action> => {
    const all: Array<Action> = []
    const can = (name: string, next: State) => all.push({ name, isFault: false, next })
    const isUsable = ({ isOld }: Row) => !isOld || !rules["tombstones older than a recovery are not stocked"]
    for (const key of state.recycles > 0 ? keysOf(state) : []) {
      const row = state.database.rows[key]!
      const ended = database.end(state.database, key)
      if (ended !== undefined) can(`the link of key ${key} ends`, { ...state, database: ended })
      // The quarantine outlasts every statement.
      const rested = isBeingBound(state, key) ? undefined : database.rest(state.database, key)
      if (rested !== undefined) can(`the quarantine of key ${key} ends`, { ...state, database: rested })
      const freed = database.recycle(state.database, key, isUsable)
      if (freed === undefined) continue
      can(`key ${key} is recycled`, {
        ...state,
        database: freed,
        recycles: state.recycles - 1,
        acknowledged:
          state.acknowledged[key] === row.create ? state.acknowledged.with(key, 0) : state.acknowledged,
        lost: isUsable(row) ? state.lost : added(state.lost, [key]),
        // The other known gap: an owner that has read a record, whose push the pool has forgotten, asks whether its keys are bound only after one was recycled.
        doubled: state.hasPoolForgotten && isRead(state, key) ? added(state.doubled, [key]) : state.doubled
      })
    }
    state.copies.forEach((copy, index) => {
      const gone = { ...state, copies: state.copies.toSpliced(index, 1) }
      const { key } = copy
      if (copy.kind === "return") {
        can(`the return of key ${key} comes again`, {
          ...gone,
          pool: pool.giveBack(state.pool, copy.id, [key])
        })
        return
      }
      can(`the create of key ${key} is done late`, bound(gone, key, copy.create, false))
      const lost = state.database.rows[key] === null ? added(state.lost, [key]) : state.lost
      can(`the create of key ${key} is never done`, { ...gone, lost })
    })
    return all
  }

  /** Servers that forget: a copy stops to follow, which is the fault, and takes over some time later. */
  const servers = (state: State): ReadonlyArray<Action> => {
    const all: Array<Action> = []
    const fault = (name: string, next: State, cost = 1) => {
      if (state.faults >= cost)
        all.push({ name, isFault: true, next: { ...next, faults: state.faults - cost } })
    }
    if (state.replica === null) fault("the pool's replica falls behind", { ...state, replica: state.pool })
    else
      fault(
        "the pool's replica takes over",
        forgetting({ ...state, pool: state.replica, replica: null, hasPoolForgotten: true }, state.pool),
        0
      )
    fault(
      "the pool loses its data",
      forgetting({ ...state, pool: Stores.emptyPool, hasPoolForgotten: true }, state.pool)
    )
    if (state.standby === null) fault("the standby falls behind", { ...state, standby: state.database })
    else {
      const promotions = state.promotions + 1
      const promoted = { ...state.standby, timeline: promotions }
      // A key may have been nowhere else.
      const isThere = ({ rows, stock }: Database, key: Key) => rows[key] !== null || stock.includes(key)
      const forgotten = keysOf(state).filter((key) => isThere(state.database, key) && !isThere(promoted, key))
      const lost = added(state.lost, forgotten)
      fault(
        "the standby takes over",
        forgetting({ ...state, database: promoted, standby: null, promotions, lost }),
        0
      )
    }
    return all
  }

  return (state) => [
    ...state.nodes.flatMap((_, index) =>
      owner(state, index).map(([text, next]) => ({
        name: `node ${index} ${text}`,
        isFault: false,
        owner: index,
        next
      }))
    ),
    ...state.nodes.flatMap((_, index) => node(state, index)),
    ...links(state),
    ...servers(state)
  ]
}

/**
 * What must hold in every state: the first that does not, in words. `isGapKnown`: a key may be acknowledged to two creates where the pool has forgotten that it handed it out, and
 * the database that it was bound.
 */
export const broken = (
  state: State,
  before: State,
  { owner }: Action,
  isGapKnown = true
): string | undefined => {
  const [twice] = state.twice
  if (twice !== undefined && !(state.promotions > 0 && state.hasPoolForgotten && isGapKnown))
    return `key ${twice} was acknowledged to two creates`
  const double = keysOf(state).find((key) => placesOf(state, key) > 1 && !state.doubled.includes(key))
  if (double !== undefined) return `key ${double} can be handed out from two places`
  if (owner === undefined) return undefined
  const { epoch } = before.nodes[owner]!
  const isFenced = epoch !== 0 && epoch < before.database.epoch
  const { records, stock } = state.database
  const isRecovered = state.recoveries > before.recoveries
  if (isFenced && !isRecovered && (records !== before.database.records || stock !== before.database.stock))
    return `node ${owner} changed the database, and was not the newest owner`
  if (epoch !== 0 && epoch < before.pool.epoch && state.pool.keys !== before.pool.keys)
    return `node ${owner} changed the pool, and was not the newest owner`
  return undefined
}

const isRead = ({ nodes }: State, key: Key): boolean =>
  nodes.some(({ step }) => "batches" in step && step.batches.some(({ keys }) => keys.includes(key)))

/** Whether nothing is under way, and each key is somewhere or was lost by a fault. */
export const isSettled = (state: State): boolean =>
  !isBehind(state) &&
  state.copies.length === 0 &&
  state.nodes.every(({ step }) => step.at === "idle" || step.at === "serves") &&
  keysOf(state).every(
    (key) => !isUnpushed(state, key) && (isSomewhere(state, key) || state.lost.includes(key))
  )

/** A state as a text, the same for states that differ in nothing but their nodes' order. */
export const textOf = (state: State): string => {
  const { holder, nodes, ...rest } = state
  const texts = nodes.map((node, index) => JSON.stringify(node) + (index === holder ? "*" : ""))
  return JSON.stringify(Object.values(rest)) + texts.toSorted().join("")
}
