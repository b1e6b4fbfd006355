import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { agent, send } from "../support/HttpClient.ts"
import * as RawConnection from "../support/RawConnection.ts"
import { ADMIN_API_KEY, asAdmin } from "./ClusterNodes.ts"
import { startAlone } from "./Program.ts"

/** Longer than a standstill is at least. */
const pause = "1300 millis"

/** Time for a request to come to the socket of a process that does not read it. */
const underWay = "50 millis"

const rounds = 5

const remove = (alias: string) =>
  `DELETE /api/v1/links/${alias} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${ADMIN_API_KEY}\r\n\r\n`

it.scopedLive(
  "a node that was paused does not delete for clients that have gone, and does for those that wait",
  () =>
    Effect.gen(function* () {
      const { port, program } = yield* startAlone({ ADMIN_API_KEY })
      const connections = yield* agent(4)
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
        const [gone, waited] = [`gone-${round}`, `waited-${round}`]
        yield* create(gone)
        yield* create(waited)
        program.signal("SIGSTOP")
        const waiting = yield* RawConnection.open(port)
        yield* waiting.write(remove(waited))
        yield* Effect.scoped(
          Effect.gen(function* () {
            const leaving = yield* RawConnection.open(port)
            yield* leaving.write(remove(gone))
            yield* Effect.sleep(underWay)
          })
        )
        yield* Effect.sleep(pause)
        program.signal("SIGCONT")
        expect(yield* waiting.heard(/\r\n\r\n/)).toMatch(/^HTTP\/1.1 204 /)
        expect(yield* statusOf(waited)).toBe(410)
        yield* Effect.sleep("200 millis")
        expect(yield* statusOf(gone)).toBe(302)
      }
    }),
  60_000
)
