import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { agent, send } from "../../support/http/HttpClient.ts"
import * as RawConnection from "../../support/http/RawConnection.ts"
import { ADMIN_API_KEY, asAdmin } from "../ClusterNodes.ts"
import { startAlone } from "../Program.ts"

/** Longer than a standstill is at least. */
const pause = "1300 millis"

/** Time for a request to come to the socket of a process that does not read it. */
const underWay = "50 millis"

/** Pauses, and clients of each kind in each of them. */
const rounds = 2
const clients = 5

const remove = (alias: string) =>
  `DELETE /api/v1/links/${alias} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${ADMIN_API_KEY}\r\n\r\n`

it.scopedLive(
  "a node that was paused does not delete for clients that have gone, and does for those that wait",
  () =>
    Effect.gen(function* () {
      const { port, program } = yield* startAlone({ ADMIN_API_KEY })
      const connections = yield* agent(clients)
      const create = (alias: string) =>
        Effect.gen(function* () {
          const answer = yield* send(connections, port, {
            method: "POST",
            path: "/api/v1/links",
            headers: { ...asAdmin, "content-type": "application/json" },
            body: JSON.stringify({ url: "https://example.com/", alias })
          })
          expect(answer.status, answer.text).toBe(201)
        })
      const statusOf = (alias: string) =>
        Effect.map(send(connections, port, { path: `/${alias}` }), ({ status }) => status)

      for (let round = 0; round < rounds; round++) {
        const named = (what: string) =>
          Array.from({ length: clients }, (_, index) => `${what}-${round}-${index}`)
        const [gone, waited] = [named("gone"), named("waited")]
        yield* Effect.forEach([...gone, ...waited], create)
        program.signal("SIGSTOP")
        const sent = (alias: string) =>
          Effect.tap(RawConnection.open(port), (connection) => connection.write(remove(alias)))
        const waiting = yield* Effect.forEach(waited, sent)
        yield* Effect.forEach(gone, sent).pipe(Effect.zipRight(Effect.sleep(underWay)), Effect.scoped)
        yield* Effect.sleep(pause)
        program.signal("SIGCONT")
        for (const connection of waiting) {
          expect(yield* connection.heard(/\r\n\r\n/)).toMatch(/^HTTP\/1.1 204 /)
        }
        expect(yield* Effect.forEach(waited, statusOf)).toEqual(waited.map(() => 410))
        yield* Effect.sleep("200 millis")
        expect(yield* Effect.forEach(gone, statusOf)).toEqual(gone.map(() => 302))
      }
    }),
  60_000
)
