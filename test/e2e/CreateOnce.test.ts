import { expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { agent, jsonOf, send } from "../support/http/HttpClient.ts"
import { migratedPlace, start } from "./Program.ts"

const adminKey = "lm_the-administrator-of-tests"

/** Kills at moments that lie around the commit of the creates, in milliseconds after they were sent. */
const killsAfter_ms = [1, 8, 30]

/** Further kills, as soon as the creates are sent, while no kill has cut off a create: on a busy machine kills come late. */
const furtherKillsMax = 5

/** Creates under way when the program is killed. */
const creates = 24

const variables = { ADMIN_API_KEY: adminKey }

it.scopedLive(
  "a repeat with the same Idempotency-Key makes no second link, whenever the program was killed",
  () =>
    Effect.gen(function* () {
      // One at a time, so that it is killed when it should be: nothing else takes the processor from it.
      const turns = yield* Effect.makeSemaphore(1)
      let replayed = 0
      let unanswered = 0
      const round = Effect.fn("round")(function* (after_ms: number) {
        const { port, settings } = yield* migratedPlace
        const connections = yield* agent(creates)
        const create = (number: number) =>
          send(connections, port, {
            method: "POST",
            path: "/api/v1/links",
            headers: {
              "content-type": "application/json",
              "x-api-key": adminKey,
              "idempotency-key": `once-${number}`
            },
            body: JSON.stringify({ url: `https://example.com/${number}` })
          })
        const numbers = Array.from({ length: creates }, (_, number) => number)
        const all = Effect.forEach(numbers, (number) => Effect.either(create(number)), {
          concurrency: "unbounded"
        })
        const killed = Effect.gen(function* () {
          const program = yield* start({ ...variables, ...settings })
          const sent = yield* Effect.fork(all)
          yield* Effect.sleep(after_ms)
          program.signal("SIGKILL")
          yield* program.ended
          const first = yield* Fiber.join(sent)
          yield* start({ ...variables, ...settings })
          return first
        })
        const first = yield* turns.withPermits(1)(killed)

        // Whoever was at it when the program died is taken for lost after some seconds. Nobody asks while another program is killed.
        const second = yield* Effect.repeat(Effect.delay(turns.withPermits(1)(all), "1 second"), {
          until: (answers) =>
            answers.every((answer) => answer._tag === "Right" && answer.right.status === 201)
        }).pipe(Effect.timeout("90 seconds"))
        const list = yield* send(connections, port, {
          path: "/api/v1/links?limit=500",
          headers: { "x-api-key": adminKey }
        })
        const { data } = jsonOf(list) as { data: ReadonlyArray<{ url: string }> }
        expect(data.map(({ url }) => url).toSorted()).toEqual(
          numbers.map((number) => `https://example.com/${number}`).toSorted()
        )
        first.forEach((answer, number) => {
          const repeated = second[number]!
          if (answer._tag === "Left") unanswered++
          else if (repeated._tag === "Right" && answer.right.status === 201) {
            replayed++
            expect(repeated.right.text).toBe(answer.right.text)
          }
        })
      }, Effect.scoped)
      yield* Effect.forEach(killsAfter_ms, round, { concurrency: "unbounded", discard: true })
      let kills = killsAfter_ms.length
      const hasCutOff = () => unanswered > 0
      for (; !hasCutOff() && kills < killsAfter_ms.length + furtherKillsMax; kills++) yield* round(1)
      // Otherwise the kills came at no interesting moment.
      expect(unanswered).toBeGreaterThan(0)
      expect(replayed + unanswered).toBe(creates * kills)
    }),
  180_000
)
