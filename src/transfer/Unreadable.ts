/** A file that cannot be read as what it should be. `line` is the line where that shows, from 1 on. */
export class Unreadable extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(`Line ${line}: ${message}`)
    this.line = line
  }
}
