import { expect, it } from "@effect/vitest"
import { Effect, HashMap, Layer, Logger, Option, TestClock } from "effect"
import { describe } from "vitest"
import type { Answer } from "../../../src/http/exchange/Answer.ts"
import { make as visitorPages, VisitorPages } from "../../../src/http/pages/VisitorPages.ts"
import * as FrontDoor from "../../../src/http/server/FrontDoor.ts"

const request = {
  method: "GET",
  url: "/health/live",
  headers: {},
  remoteAddress: Option.none(),
  readBytes: () => {}
}

const pages = Layer.sync(VisitorPages, () => visitorPages())

describe("a request that is not answered in time", () => {
  it.scoped("is answered 503 once, and the log says so with its id", () => {
    const told: Array<unknown> = []
    const logger = Logger.make(({ annotations, logLevel, message }) => {
      told.push([logLevel.label, [message].flat(), Option.getOrNull(HashMap.get(annotations, "request"))])
    })
    return Effect.gen(function* () {
      const answers: Array<Answer> = []
      const door = yield* FrontDoor.make({
        operations: { health: { live: () => Effect.never, ready: () => Effect.never } },
        requestId: () => "the-late-one"
      })
      door.serve(request, (answer) => answers.push(answer))
      yield* TestClock.adjust("4 seconds")
      expect(answers).toEqual([])
      yield* TestClock.adjust("1 minute")
      expect(answers.map(({ status }) => status)).toEqual([503])
      expect(told).toEqual([["WARN", ["Answered 503: The answer took too long."], "the-late-one"]])
    }).pipe(Effect.provide([pages, Logger.replace(Logger.defaultLogger, logger)]))
  })
})
