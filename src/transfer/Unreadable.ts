/** A file that cannot be read as what it should be. `line` is the line where that shows, from 1 on, `reason` what is wrong there. */
export class Unreadable extends Error {
  readonly line: number
  readonly reason: string

  constructor(line: number, reason: string) {
    super(`Line ${line}: ${reason}`)
    this.line = line
    this.reason = reason
  }
}
