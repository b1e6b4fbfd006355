import { expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { agent, jsonOf, send } from "../support/HttpClient.ts"
import { migratedPlace, start } from "./Program.ts"

const adminKey = "lm_the-administrator-of-tests"

/** Kills at moments that lie around the commit of the creates, in milliseconds after they were sent. */
const killsAfter_ms = [1, 5, 10, 20, 40]

/** Creates under way when the program is killed. */
const creates = 24

it.scopedLive(
  "a repeat with the same Idempotency-Key makes no second link, whenever the program was killed",
  () =>
    Effect.gen(function* () {
      const { port, settings } = yield* migratedPlace
      const variables = { ...settings, ADMIN_API_KEY: adminKey }
      const connections = yield* agent(creates)
      const create = (round: number, number: number) =>
        send(connections, port, {
          method: "POST",
          path: "/api/v1/links",
          headers: {
            "content-type": "application/json",
            "x-api-key": adminKey,
            "idempotency-key": `${round}-${number}`
          },
          body: JSON.stringify({ url: `https://example.com/${round}/${number}` })
        })
      const all = (round: number) =>
        Effect.forEach(
          Array.from({ length: creates }, (_, number) => number),
          (number) => Effect.either(create(round, number)),
          { concurrency: "unbounded" }
        )
      let replayed = 0
      let unanswered = 0
      for (const [round, after_ms] of killsAfter_ms.entries()) {
        const program = yield* start(variables)
        const sent = yield* Effect.fork(all(round))
        yield* Effect.sleep(after_ms)
        program.signal("SIGKILL")
        yield* program.ended
        const first = yield* Fiber.join(sent)

        const again = yield* start(variables)
        // Whoever was at it when the program died is taken for lost after some seconds.
        const second = yield* Effect.repeat(all(round), {
          until: (answers) =>
            answers.every((answer) => answer._tag === "Right" && answer.right.status === 201)
        }).pipe(Effect.timeout("20 seconds"))
        const list = yield* send(connections, port, {
          path: `/api/v1/links?limit=500&q=${encodeURIComponent(`example.com/${round}/`)}`,
          headers: { "x-api-key": adminKey }
        })
        const { data } = jsonOf(list) as { data: ReadonlyArray<{ url: string }> }
        expect(data.map(({ url }) => url).toSorted()).toEqual(
          Array.from({ length: creates }, (_, number) => `https://example.com/${round}/${number}`).toSorted()
        )
        first.forEach((answer, number) => {
          const repeated = second[number]!
          if (answer._tag === "Left") unanswered++
          else if (repeated._tag === "Right" && answer.right.status === 201) {
            replayed++
            expect(repeated.right.text).toBe(answer.right.text)
          }
        })
        again.signal("SIGKILL")
        yield* again.ended
      }
      // Otherwise the kills came at no interesting moment.
      expect(unanswered).toBeGreaterThan(0)
      expect(replayed + unanswered).toBe(creates * killsAfter_ms.length)
    }),
  180_000
)
