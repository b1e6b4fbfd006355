import type { UnreadableMessage } from "./Messages.ts"

/** A file that cannot be read as what it should be. `line` is the line where that shows, from 1 on, `reason` what is wrong there. */
export class Unreadable extends Error {
  readonly line: number
  readonly reason: UnreadableMessage

  constructor(line: number, reason: UnreadableMessage) {
    super(`Line ${line}: ${reason}`)
    this.line = line
    this.reason = reason
  }
}
