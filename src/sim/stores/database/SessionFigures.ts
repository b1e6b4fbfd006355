/** A connection of a process's pool, or that it did not make; and when that was asked for. */
export interface Refusal {
  readonly by: string
  readonly at_us: number
}

/** The greatest of what a database's sessions took, of all its servers: microseconds, and how many sessions. And what pools refused. */
export class SessionFigures {
  /** Since as many had been given up lately as there may be: the server may have those for 15 s. */
  readonly refusals: Array<Refusal> = []
  /** Connections of their pools that processes took, of a primary that they knew to be left behind. */
  readonly leftBehind: Array<Refusal> = []
  /** A statement that was carried out, its waits for locks included, its commit not. */
  statementMost_us = 0
  /** How long a transaction waited for its next statement, and held its locks meanwhile. */
  idleMost_us = 0
  /** Sessions of one process. */
  sessionsMost = 0

  statement(took_us: number) {
    this.statementMost_us = Math.max(this.statementMost_us, took_us)
  }

  idle(for_us: number) {
    this.idleMost_us = Math.max(this.idleMost_us, for_us)
  }

  sessions(count: number) {
    this.sessionsMost = Math.max(this.sessionsMost, count)
  }
}
