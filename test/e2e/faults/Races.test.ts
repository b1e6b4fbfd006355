import { expect, layer } from "@effect/vitest"
import { Clock, Context, Effect, Either, Fiber, Layer } from "effect"
import * as Iso8601 from "../../../src/model/Iso8601.ts"
import { monotonic_ms } from "../../../src/time/MonotonicTime.ts"
import { type Answer, jsonOf } from "../../support/http/HttpClient.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { describeRedis } from "../../support/services/redis/Redis.ts"
import { asAdmin, type ClusterNode, type JsonRequest, threeNodes } from "../ClusterNodes.ts"

class Nodes extends Context.Tag("test/e2e/Nodes")<Nodes, ReadonlyArray<ClusterNode>>() {
  static readonly layer = Layer.scoped(Nodes, threeNodes({ BASE_URL: "http://linkmint.example" }))
}

/** Within this of an acknowledged change, or of a link's end, no node gives the old answer any more, in milliseconds. */
const staleMax_ms = 1_000

/** What a visitor waits between two visits, in milliseconds: those of a node see it every few milliseconds all the same, and leave it the time to be asked for something else. */
const pause_ms = 10

/** What a visitor saw of a link. Moments are the client's, in milliseconds, on a clock that does not jump. */
interface Seen {
  readonly node: number
  readonly asked: number
  readonly answered: number
  readonly status: number
  readonly location: string | undefined
}

const url = (version: number) => `https://example.com/${version}`

const path = (alias: string) => `/api/v1/links/${alias}`

/** Asks one node, which has to answer as it should. */
const done = (node: ClusterNode | undefined, request: JsonRequest, status: number) =>
  Effect.gen(function* () {
    const asked = yield* monotonic_ms
    const answer = yield* Effect.orDie(node!.send({ headers: asAdmin, ...request }))
    expect(answer.status, answer.text).toBe(status)
    return { asked, answered: yield* monotonic_ms }
  })

const make = (node: ClusterNode | undefined, link: object) =>
  done(node, { path: "/api/v1/links", json: { url: url(0), ...link } }, 201)

/** Waits until each of some nodes has given a visitor such an answer. */
const untilSeenAtEach = (
  nodes: ReadonlyArray<ClusterNode>,
  seen: ReadonlyArray<Seen>,
  isSuch: (visit: Seen) => boolean
) =>
  Effect.repeat(Effect.sleep("20 millis"), {
    until: () => nodes.every((_, number) => seen.some((visit) => visit.node === number && isSuch(visit)))
  })

/**
 * Visits a link on all nodes, some visitors on each, for as long as `events` take and somewhat longer: until each node was asked when it could give no answer any more that was
 * right before the moment `endOf` it. What they saw.
 */
const visiting = <A>(
  alias: string,
  events: (nodes: ReadonlyArray<ClusterNode>, seen: ReadonlyArray<Seen>) => Effect.Effect<A>,
  endOf: (happened: A) => number
) =>
  Effect.gen(function* () {
    const nodes = yield* Nodes
    const seen: Array<Seen> = []
    const visit = (number: number) =>
      Effect.gen(function* () {
        const asked = yield* monotonic_ms
        const { headers, status } = yield* Effect.orDie(nodes[number]!.send({ path: `/${alias}` }))
        const answered = yield* monotonic_ms
        // A node that is too busy to tell says nothing of the link.
        if (status !== 503) seen.push({ node: number, asked, answered, status, location: headers.location })
      })
    const visitors = yield* Effect.forkAll(
      nodes.flatMap((_, number) =>
        [0, 1, 2, 3].map(() => Effect.forever(Effect.delay(visit(number), pause_ms)))
      )
    )
    const happened = yield* events(nodes, seen)
    yield* Effect.sleep(staleMax_ms + 700)
    yield* untilSeenAtEach(nodes, seen, ({ asked }) => asked > endOf(happened) + staleMax_ms)
    yield* Fiber.interrupt(visitors)
    return { happened, seen: seen as ReadonlyArray<Seen> }
  })

const statuses = (seen: ReadonlyArray<Seen>) => [...new Set(seen.map(({ status }) => status))].toSorted()

const askedAfter = (seen: ReadonlyArray<Seen>, moment: number) => seen.filter(({ asked }) => asked > moment)

const answeredBefore = (seen: ReadonlyArray<Seen>, moment: number) =>
  seen.filter(({ answered }) => answered < moment)

/** Each of its own links: they mostly wait. */
const atOnce = { concurrent: true, timeout: 60_000 }

const creates = 16

/** Kills at moments that lie around the commit of the creates, in milliseconds after they were sent. */
const killsAfter_ms = [2, 8, 25]

/** Further kills while none has cut off a create: on a busy machine kills come late. */
const furtherKillsMax = 5

describeRedis("with Redis,", () =>
  describePostgres("on three nodes", () =>
    layer(Nodes.layer, { excludeTestServices: true, timeout: 120_000 })((it) => {
      it.effect(
        "a link redirects everybody from its creation to its deletion, and nobody who comes a second later",
        () =>
          Effect.gen(function* () {
            const { happened, seen } = yield* visiting(
              "deleted",
              (nodes, seen) =>
                Effect.gen(function* () {
                  const created = yield* make(nodes[0], { alias: "deleted" })
                  yield* Effect.sleep(500)
                  yield* untilSeenAtEach(nodes, seen, ({ status }) => status === 302)
                  const deleted = yield* done(nodes[1], { method: "DELETE", path: path("deleted") }, 204)
                  return { created, deleted }
                }),
              ({ deleted }) => deleted.answered
            )
            const { created, deleted } = happened
            const between = askedAfter(answeredBefore(seen, deleted.asked), created.answered)
            expect(statuses(between)).toEqual([302])
            const late = askedAfter(seen, deleted.answered + staleMax_ms)
            expect(late.length).toBeGreaterThan(0)
            const wrong = late.filter(({ status }) => status !== 410)
            expect(wrong.map((visit) => ({ ...visit, late_ms: visit.asked - deleted.answered }))).toEqual([])
          }),
        atOnce
      )

      it.effect(
        "a changed link leads nobody who comes a second later to an earlier target",
        () =>
          Effect.gen(function* () {
            const versions = [1, 2, 3, 4]
            const { happened: changes, seen } = yield* visiting(
              "changed",
              (nodes) =>
                Effect.gen(function* () {
                  yield* make(nodes[0], { alias: "changed" })
                  return yield* Effect.forEach(versions, (version) =>
                    Effect.zipLeft(
                      done(
                        nodes[version % nodes.length],
                        { method: "PATCH", path: path("changed"), json: { url: url(version) } },
                        200
                      ),
                      Effect.sleep(700)
                    )
                  )
                }),
              (changes) => changes.at(-1)!.answered
            )
            for (const [index, { answered, asked }] of changes.entries()) {
              const after = askedAfter(seen, answered + staleMax_ms)
              expect(after.length).toBeGreaterThan(0)
              const stale = versions.slice(0, index).concat(0).map(url)
              expect(after.filter(({ location }) => stale.includes(location!))).toEqual([])
              // No one sees a change that was not asked for yet.
              const fresh = versions.slice(index).map(url)
              const early = answeredBefore(seen, asked)
              expect(early.filter(({ location }) => fresh.includes(location!))).toEqual([])
            }
          }),
        atOnce
      )

      it.effect(
        "an expired link redirects nobody who comes a second later, and everybody before, whether or not it counts visits",
        () =>
          Effect.gen(function* () {
            // A create that comes later is refused.
            const lifetime_ms = 4_000
            const links = [{ alias: "expired" }, { alias: "expired-counted", maxVisits: 1_000_000 }]
            const lookAt = Effect.fnUntraced(function* (link: (typeof links)[number]) {
              const { happened: end, seen } = yield* visiting(
                link.alias,
                (nodes) =>
                  Effect.gen(function* () {
                    const expiresAt = (yield* Clock.currentTimeMillis) + lifetime_ms
                    const end = (yield* monotonic_ms) + lifetime_ms
                    yield* make(nodes[2], { ...link, expiresAt: Iso8601.formatMoment(expiresAt) })
                    yield* Effect.sleep(lifetime_ms)
                    return end
                  }),
                (end) => end
              )
              const early = answeredBefore(seen, end - 50)
              expect(statuses(early).filter((status) => status !== 404)).toEqual([302])
              const late = askedAfter(seen, end + staleMax_ms)
              expect(late.length).toBeGreaterThan(0)
              expect(statuses(late)).toEqual([410])
            })
            yield* Effect.forEach(links, lookAt, { concurrency: "unbounded" })
          }),
        atOnce
      )

      it.effect(
        "a link with visits to use up redirects so many visitors, unless it expires before",
        () =>
          Effect.gen(function* () {
            const maxVisits = 100
            const redirects = (seen: ReadonlyArray<Seen>) =>
              seen.filter(({ status }) => status === 302).length
            const used = yield* visiting(
              "used-up",
              (nodes, seen) =>
                Effect.zipLeft(
                  make(nodes[1], { alias: "used-up", maxVisits, expiresIn: "PT1H" }),
                  Effect.repeat(Effect.sleep("20 millis"), { until: () => statuses(seen).includes(410) })
                ),
              ({ answered }) => answered
            )
            expect(redirects(used.seen)).toBe(maxVisits)
            const ended = yield* visiting(
              "used-or-ended",
              (nodes) => make(nodes[1], { alias: "used-or-ended", maxVisits, expiresIn: "PT0.15S" }),
              ({ answered }) => answered
            )
            expect(redirects(ended.seen)).toBeLessThanOrEqual(maxVisits)
            expect(statuses(askedAfter(ended.seen, ended.happened.answered + staleMax_ms))).toEqual([410])
          }),
        atOnce
      )

      it.effect(
        "a repeat with the same Idempotency-Key through another node makes no second link, whenever the first node was killed",
        () =>
          Effect.gen(function* () {
            const nodes = yield* Nodes
            const numbers = Array.from({ length: creates }, (_, number) => number)
            const all = (node: ClusterNode, round: number) =>
              Effect.forEach(
                numbers,
                (number) =>
                  Effect.either(
                    node.send({
                      path: "/api/v1/links",
                      headers: { ...asAdmin, "idempotency-key": `${round}-${number}` },
                      json: { url: `https://example.com/${round}/${number}` }
                    })
                  ),
                { concurrency: "unbounded" }
              )
            const created = (answers: ReadonlyArray<Either.Either<Answer, unknown>>) =>
              answers.filter(Either.isRight).filter(({ right }) => right.status === 201)
            let unanswered = 0
            const isDone = (round: number) => round >= killsAfter_ms.length && unanswered > 0
            for (let round = 0; !isDone(round) && round < killsAfter_ms.length + furtherKillsMax; round++) {
              const killed = nodes[round % nodes.length]!
              const other = nodes[(round + 1) % nodes.length]!
              const sent = yield* Effect.fork(all(killed, round))
              yield* Effect.sleep(killsAfter_ms[round] ?? 1)
              yield* killed.end("SIGKILL")
              const first = yield* Fiber.join(sent)
              // What the killed node was at is taken for lost after some seconds.
              const second = yield* Effect.repeat(Effect.delay(all(other, round), "1 second"), {
                until: (answers) => created(answers).length === creates
              }).pipe(Effect.timeout("40 seconds"))

              const texts = second.map((answer) => Either.getOrThrow(answer).text)
              first.forEach((answer, number) => {
                if (Either.isLeft(answer)) unanswered++
                else if (answer.right.status === 201) expect(texts[number]).toBe(answer.right.text)
              })
              const list = yield* other.send({
                path: `/api/v1/links?limit=500&q=${encodeURIComponent(`example.com/${round}/`)}`,
                headers: asAdmin
              })
              const { data } = jsonOf(list) as { data: ReadonlyArray<{ readonly url: string }> }
              const urls = numbers.map((number) => `https://example.com/${round}/${number}`)
              expect(data.map((link) => link.url).toSorted()).toEqual(urls.toSorted())
              yield* killed.restart()
            }
            // Otherwise the kills came at no interesting moment.
            expect(unanswered).toBeGreaterThan(0)
          }),
        300_000
      )
    })
  )
)
