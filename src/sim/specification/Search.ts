import {
  actions,
  broken,
  initial,
  isSettled,
  type Rules,
  rules as sound,
  type Sizes,
  type State,
  textOf
} from "./KeyPath.ts"

/** What a search found. */
export interface Found {
  readonly states: number
  readonly transitions: number
  /** Steps of the longest shortest way to a state. */
  readonly depth: number
  /** Whether every state was seen. */
  readonly isComplete: boolean
  /** What does not hold, and the shortest way there, by its actions' names. */
  readonly counterexample: { readonly text: string; readonly steps: ReadonlyArray<string> } | undefined
}

/** How a search is made. */
export interface SearchOptions {
  readonly sizes: Sizes
  readonly rules?: Rules
  /** Whether the one known gap is passed over: see `broken`. */
  readonly isGapKnown?: boolean
  /** States at most. */
  readonly statesMax?: number
  /** Waited for after every 10,000 states, since a search takes long. */
  readonly turn?: () => Promise<void>
}

const statesPerTurn = 10_000

/**
 * Goes through all states, those in fewer steps first, until something does not hold. When all are seen, each is asked for a way without
 * faults to a state in which all keys are accounted for. Of a state that was seen only a text is kept, in which the nodes have no order.
 */
export const search = async ({
  isGapKnown = true,
  rules = sound,
  sizes,
  statesMax = 20_000_000,
  turn
}: SearchOptions): Promise<Found> => {
  const nextOf = actions(rules)
  const seen = new Map<string, number>()
  const parents: Array<number> = []
  const names: Array<string> = []
  const depths: Array<number> = []
  const settled: Array<number> = []
  /** Steps without a fault, from each to each. */
  const from: Array<number> = []
  const to: Array<number> = []
  let transitions = 0

  const add = (state: State, parent: number, name: string): number | undefined => {
    const text = textOf(state)
    const known = seen.get(text)
    if (known !== undefined) return known
    const number = parents.length
    seen.set(text, number)
    parents.push(parent)
    names.push(name)
    depths.push(parent < 0 ? 0 : depths[parent]! + 1)
    if (isSettled(state)) settled.push(number)
    queue.push(state)
    return number
  }
  const wayTo = (number: number) => {
    const steps: Array<string> = []
    for (let at = number; at > 0; at = parents[at]!) steps.push(names[at]!)
    return steps.toReversed()
  }
  const found = (counterexample: Found["counterexample"], isComplete: boolean): Found => ({
    states: parents.length,
    transitions,
    depth: depths.at(-1)!,
    isComplete,
    counterexample
  })

  const queue: Array<State | undefined> = []
  add(initial(sizes), -1, "")
  for (let number = 0; number < queue.length; number++) {
    if (queue.length > statesMax) return found(undefined, false)
    if (number % statesPerTurn === 0) await turn?.()
    const state = queue[number]!
    queue[number] = undefined
    for (const action of nextOf(state)) {
      transitions++
      const text = broken(action.next, state, action, isGapKnown)
      if (text !== undefined) return found({ text, steps: [...wayTo(number), action.name] }, false)
      const next = add(action.next, number, action.name)!
      if (action.isFault) continue
      from.push(number)
      to.push(next)
    }
  }

  const stuck = firstStuck(parents.length, { from, to }, settled)
  if (stuck === undefined) return found(undefined, true)
  return found({ text: "not all keys can be accounted for any more", steps: wayTo(stuck) }, true)
}

/** The first state from which none of the targets can be reached. */
const firstStuck = (
  states: number,
  { from, to }: { readonly from: ReadonlyArray<number>; readonly to: ReadonlyArray<number> },
  targets: ReadonlyArray<number>
): number | undefined => {
  const into = new Int32Array(states + 2)
  for (const state of to) into[state + 2]!++
  for (let state = 2; state < into.length; state++) into[state]! += into[state - 1]!
  const sources = new Int32Array(to.length)
  to.forEach((state, edge) => {
    sources[into[state + 1]!++] = from[edge]!
  })
  const reaches = new Uint8Array(states)
  const open = [...targets]
  open.forEach((state) => (reaches[state] = 1))
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    for (let edge = into[state]!; edge < into[state + 1]!; edge++) {
      const source = sources[edge]!
      if (reaches[source] === 1) continue
      reaches[source] = 1
      open.push(source)
    }
  }
  const stuck = reaches.indexOf(0)
  return stuck < 0 ? undefined : stuck
}
