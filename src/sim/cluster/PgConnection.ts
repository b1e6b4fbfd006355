import { Duration } from "effect"
import { connections } from "../../node/ClusterRunner.ts"
import { ms_us } from "../world/Time.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import type { CallFaults, CrashPoint } from "../world/VirtualServer.ts"
import type { PgMessage } from "./RunnerDatabase.ts"
import type { Row } from "./RunnerStatements.ts"
import type { End } from "./VirtualTcp.ts"

/** What goes wrong on the way to the database. A call that is not answered is one whose connection breaks. */
export interface ConnectionFaults {
  readonly faults: () => CallFaults
  readonly crashPoint: CrashPoint
}

/** Is told of a statement's rows, or why there are none. */
export type Callback = (result: ReadonlyArray<Row> | Error) => void

const answerMax_us = Duration.toMillis(connections.answerTimeout) * ms_us

/**
 * A client's connection, as the bounded client of `PostgresClient` keeps it: statements are answered in their order, and none once it is broken. One
 * that is not answered in time breaks it.
 */
export class PgConnection {
  readonly #process: VirtualProcess
  readonly #end: End<PgMessage>
  readonly #faults: ConnectionFaults
  readonly #waiting: Array<Callback> = []
  #onReady: (() => void) | undefined
  #error: Error | undefined
  /** The backend's process number, once it has told. */
  pid: number | undefined
  /** Is told when it breaks, once; whoever has the connection sets it. */
  whenBroken: (error: Error) => void = () => {}

  constructor(process: VirtualProcess, end: End<PgMessage>, faults: ConnectionFaults) {
    this.#process = process
    this.#end = end
    this.#faults = faults
  }

  /** Whether statements can be asked. */
  get isQueryable(): boolean {
    return this.#error === undefined
  }

  /** Says who it is, and calls back when the database has answered. */
  start(applicationName: string, onReady: () => void) {
    this.#onReady = onReady
    this.#end.read({
      onMessage: (message) => this.#hear(message),
      onEnd: () => this.#break("Connection terminated unexpectedly")
    })
    this.#end.send({ tag: "startup", applicationName, idle_ms: connections.bounds.idle_ms })
  }

  /** Asks a statement. */
  query(sql: string, parameters: ReadonlyArray<unknown>, callback: Callback) {
    const process = this.#process
    const { crashPoint, faults } = this.#faults
    const operation = "runner storage"
    crashPoint(process, operation)
    if (!process.isAlive) return
    const { ignored, lost, refused } = faults()
    const chance = process.world.chance("calls of runner storage")
    if (chance.happens(refused)) {
      this.#end.reset()
      this.#break("write ECONNRESET")
    }
    const error = this.#error
    if (error !== undefined) return process.post(() => callback(error))
    const timer = process.world.after(answerMax_us, process, () =>
      process.post(() => {
        if (!timer.isCancelled) this.#giveUp()
      })
    )
    this.#waiting.push((result) => {
      timer.isCancelled = true
      crashPoint(process, operation)
      if (process.isAlive) callback(result)
    })
    const breaks = chance.happens(ignored) ? "before" : chance.happens(lost) ? "after" : "never"
    this.#end.send({ tag: "statement", sql, parameters, breaks })
  }

  /** Says goodbye. Statements that are not answered yet are not any more. */
  close() {
    this.#end.close()
    this.#break("Connection terminated")
  }

  #hear(message: PgMessage) {
    if (message.tag === "ready") {
      this.pid = message.pid
      this.#onReady?.()
    } else if (message.tag === "rows") this.#waiting.shift()?.(message.rows)
    else if (message.tag === "error") this.#waiting.shift()?.(new Error(message.message))
  }

  #giveUp() {
    this.#end.reset()
    this.#break("Query read timeout")
  }

  #break(why: string) {
    if (this.#error !== undefined) return
    this.#error = new Error(why)
    for (const callback of this.#waiting.splice(0)) callback(this.#error)
    this.whenBroken(this.#error)
  }
}
