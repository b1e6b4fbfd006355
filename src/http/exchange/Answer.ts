import type { Effect, Stream } from "effect"
import type { Problem } from "./Problem.ts"

/** What an answer says: text, bytes, or a stream of bytes that is read as fast as the client takes it. */
export type Content = string | Uint8Array | Stream.Stream<Uint8Array>

/** An answer to a request. */
export interface Answer<Body extends Content = Content> {
  readonly status: number
  /** Headers before the others: one of a few lists that are made once, so that they are checked and written once. */
  readonly fixed?: ReadonlyArray<string>
  /**
   * Names and values by turns, as `node:http` takes them. Names are in lower case, and each is there once in both lists, but for `set-cookie`. The front door adds more, such as the
   * length of the body.
   */
  readonly headers: Array<string>
  /** Empty text where there is none. */
  readonly body: Body
}

const noHeaders: ReadonlyArray<string> = []

/** The fixed headers of an answer. */
export const fixedOf = ({ fixed = noHeaders }: Answer): ReadonlyArray<string> => fixed

/** Headers by name as an answer has them. */
export const flatten = (headers: Readonly<Record<string, string>>): Array<string> =>
  Object.entries(headers).flat()

/** An answer in JSON, already written, that nobody on the way keeps. */
export const ofJson = (body: string, status = 200): Answer<string> => ({
  status,
  headers: flatten({ "content-type": "application/json", "cache-control": "no-store" }),
  body
})

/** The same of a value. */
export const json = (value: object, status?: number): Answer<string> => ofJson(JSON.stringify(value), status)

/** An answer that says nothing more than its status. */
export const empty = (status = 204): Answer => ({ status, headers: [], body: "" })

/** An answer, or what gives it. */
export type Work = Effect.Effect<Answer, Problem>

/** How a request is answered: one of them is called once, at once or later. */
export interface Answering {
  readonly answer: (answer: Answer) => void
  /** Takes an effect to answer it. */
  readonly instead: (work: Work) => void
  /** Whether nobody waits for an answer any more. */
  readonly isOver: () => boolean
}
