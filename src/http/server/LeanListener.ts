import type { RequestListener, ServerResponse } from "node:http"
import type { Answer } from "../exchange/Answer.ts"
import type { Lean } from "./Lean.ts"
import { NodeRequest } from "../exchange/Request.ts"

const send = (response: ServerResponse, { body, headers, status }: Answer) => {
  if (response.writableEnded || response.destroyed) return
  response.writeHead(status, headers)
  response.end(body)
}

/** Has the hot operations answered by `lean`, and all other requests by `others`. `always`: headers that all answers of `lean` get. */
export const make =
  ({ serve }: Lean, others: RequestListener, always: ReadonlyArray<string>): RequestListener =>
  (message, response) => {
    let isOver = false
    const giveUp = serve(new NodeRequest(message), (answer) => {
      isOver = true
      if (always.length > 0) answer.headers.push(...always)
      send(response, answer)
    })
    if (giveUp === undefined) return void others(message, response)
    if (!isOver) {
      response.once("close", () => {
        if (!isOver) giveUp()
      })
    }
  }
