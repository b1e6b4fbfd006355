import { HttpServerResponse } from "@effect/platform"

/** An answer, whoever sends it. */
export interface Answer {
  readonly status: number
  /** Names, in lower case and each once, and values by turns, as `node:http` takes them. Whoever sends the answer adds more, such as the length of its body. */
  readonly headers: Array<string>
  /** Empty where there is none. */
  readonly body: string
}

/** Headers by name as an answer has them. */
export const flatten = (headers: Readonly<Record<string, string>>): Array<string> =>
  Object.entries(headers).flat()

/** An answer in JSON that nobody on the way keeps. */
export const ofJson = (body: string): Answer => ({
  status: 200,
  headers: flatten({ "content-type": "application/json", "cache-control": "no-store" }),
  body
})

const pairsOf = (headers: ReadonlyArray<string>): ReadonlyArray<readonly [string, string]> =>
  Array.from({ length: headers.length / 2 }, (_, index) => [headers[2 * index]!, headers[2 * index + 1]!])

/** The answer as Effect's server sends it. */
export const toResponse = ({ body, headers, status }: Answer): HttpServerResponse.HttpServerResponse => {
  const named = Object.fromEntries(pairsOf(headers))
  return body === ""
    ? HttpServerResponse.empty({ status, headers: named })
    : HttpServerResponse.text(body, { status, headers: named, contentType: named["content-type"]! })
}
