import TinyQueue from "tinyqueue"
import { Chance } from "./Chance.ts"
import { useOwnLoop } from "./FiberLoop.ts"
import { FiberNumbers } from "./FiberNumbers.ts"
import * as Globals from "./Globals.ts"
import { ms_us } from "./Time.ts"
import { Trace } from "./Trace.ts"
import { VirtualProcess } from "./VirtualProcess.ts"

useOwnLoop(true)

/**
 * When worlds begin: half a minute before a day of UTC ends, since some things count by the day, and with it a month; some only before an hour does. The days that follow are a Thursday with a new year, a Sunday, a Monday, and the Wednesday after a 29 February.
 */
const beginnings = [
  "2025-12-31T23:59:30Z",
  "2026-02-28T23:59:30Z",
  "2026-05-31T23:59:30Z",
  "2028-02-29T23:59:30Z"
].map((text) => Date.parse(text))

/** How likely a world begins so much earlier, so that an hour ends in it and no day. */
const earlierShare = 0.2
const earlier_ms = 10 * 3_600_000

/** An event at a time. */
export interface WorldEvent {
  readonly at_us: number
  readonly tie: number
  readonly sequence: number
  readonly process: VirtualProcess | null
  readonly run: () => void
  isCancelled: boolean
}

const earlier = (a: WorldEvent, b: WorldEvent) =>
  a.at_us - b.at_us || a.tie - b.tie || a.sequence - b.sequence

/** What a world is made of. */
export interface WorldOptions {
  /** An integer from 0 to 2^32 − 1. */
  readonly seed: number
  /** The probability that a fiber is preempted before any single step. */
  readonly preemption: number
  /** Whether the trace keeps its events. */
  readonly keepTrace: boolean
}

/**
 * Virtual time, and everything that happens in it, in an order that follows from the seed: the events that are due, then one ready task
 * of one process that has some, both drawn. When nothing is ready, time jumps to the next event. JavaScript's own event
 * loop never turns meanwhile.
 */
export class World {
  readonly seed: number
  readonly preemption: number
  readonly trace: Trace
  /** The process whose task runs now. */
  current: VirtualProcess | null = null
  isRunning = false
  /** Tasks run so far. */
  tasks = 0
  readonly #processes: Array<VirtualProcess> = []
  readonly #events = new TinyQueue<WorldEvent>([], earlier)
  readonly #fibers = new FiberNumbers()
  readonly #chances = new Map<string, Chance>()
  readonly #scheduling: Chance
  readonly #cpu: Chance
  readonly #beginning_ms: number
  #now_us = 0
  #sequence = 0
  #spawned = 0

  constructor({ keepTrace, preemption, seed }: WorldOptions) {
    this.seed = seed
    this.preemption = preemption
    this.trace = new Trace(keepTrace)
    this.#scheduling = this.chance("scheduling")
    this.#cpu = this.chance("cpu")
    const isEarlier = this.chance("hour of the beginning").happens(earlierShare)
    this.#beginning_ms = this.chance("beginning").pick(beginnings) - (isEarlier ? earlier_ms : 0)
  }

  /** Microseconds since the world's beginning. */
  get now_us(): number {
    return this.#now_us
  }

  /** True time, in milliseconds since the Unix epoch; a process's own clock may differ. */
  get now_ms(): number {
    return this.#beginning_ms + Math.floor(this.#now_us / ms_us)
  }

  /** The stream of chance of a subject, the same one each time. */
  chance(subject: string): Chance {
    const known = this.#chances.get(subject) ?? new Chance(this.seed, subject)
    this.#chances.set(subject, known)
    return known
  }

  /** A new process; processes with one name are incarnations of it. */
  spawn(name: string, incarnation: number): VirtualProcess {
    const process = new VirtualProcess(this, name, incarnation, this.#spawned++)
    this.#processes.push(process)
    return process
  }

  /** Forgets a process that is dead. */
  bury(process: VirtualProcess) {
    const index = this.#processes.indexOf(process)
    if (index >= 0) this.#processes.splice(index, 1)
  }

  /** Adds an event to the trace. */
  tell(who: string, kind: string, detail = "") {
    this.trace.add(this.#now_us, who, kind, detail)
  }

  /** Calls `run` in `delay_us`, unless the event is cancelled or `process`, if given, is dead by then. */
  after(delay_us: number, process: VirtualProcess | null, run: () => void): WorldEvent {
    const event: WorldEvent = {
      at_us: this.#now_us + Math.max(0, Math.ceil(delay_us)),
      tie: this.#scheduling.below(2 ** 30),
      sequence: this.#sequence++,
      process,
      run,
      isCancelled: false
    }
    this.#events.push(event)
    return event
  }

  /**
   * Runs until a time, or until more than `tasksMax` tasks were run in all: then it gives `false`, and is where that happened. Everything happens inside: fibers are to be started by events, so that none is
   * started outside of virtual time.
   */
  runUntil(until_us: number, tasksMax = Infinity): boolean {
    const restore = Globals.virtualise(this, this.#fibers)
    this.isRunning = true
    try {
      while (this.#now_us < until_us && this.#step(until_us)) {
        if (this.tasks > tasksMax) return false
      }
      this.#now_us = Math.max(this.#now_us, until_us)
      return true
    } finally {
      this.isRunning = false
      this.current = null
      restore()
    }
  }

  /** Looks at what a process has, when the world runs no more: fibers that are started by it are this world's, and never run. */
  look<A>(at: () => A): A {
    const leave = this.#fibers.enter()
    try {
      return at()
    } finally {
      leave()
    }
  }

  /** Ends the world: no process does anything any more. */
  end() {
    for (const process of this.#processes.slice()) process.kill()
  }

  /** One decision; `false` when nothing is left to do before `until_us`. */
  #step(until_us: number): boolean {
    for (
      let event = this.#events.peek();
      event !== undefined && event.at_us <= this.#now_us;
      event = this.#events.peek()
    ) {
      this.#events.pop()
      this.#happen(event)
    }
    if (this.#runTask()) return true
    const next = this.#events.peek()
    if (next === undefined || next.at_us > until_us) return false
    this.#now_us = next.at_us
    return true
  }

  #happen({ isCancelled, process, run }: WorldEvent) {
    if (isCancelled || process?.isAlive === false) return
    this.current = process
    run()
    this.current = null
  }

  #runTask(): boolean {
    let ready = 0
    for (const process of this.#processes) if (process.isReady) ready++
    if (ready === 0) return false
    let skip = ready === 1 ? 0 : this.#scheduling.below(ready)
    for (const process of this.#processes) {
      if (!process.isReady || skip-- > 0) continue
      const { choice, task } = process.take(this.#scheduling)
      this.trace.choose(process.number * 65_537 + choice)
      this.trace.choose(this.#now_us | 0)
      this.tasks++
      this.current = process
      task()
      this.current = null
      // The processor time of the task.
      this.#now_us += 1 + this.#cpu.below(16)
      break
    }
    return true
  }
}
