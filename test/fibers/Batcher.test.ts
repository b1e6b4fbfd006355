import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { describe } from "vitest"
import * as Batcher from "../../src/fibers/Batcher.ts"
import { Direct, type Run } from "../../src/fibers/Direct.ts"

/** A batch that was sent and waits for the test to answer it. */
interface Sent {
  readonly questions: ReadonlyArray<number>
  readonly answer: Deferred.Deferred<ReadonlyArray<string>, string>
}

const answerOf = (question: number) => `answer ${question}`

/** A batcher whose batches the test answers. */
const controlled = (
  limits: Partial<
    Pick<
      Batcher.BatcherOptions<number, string, string>,
      "batchMax" | "queueMax" | "inFlightMax" | "permits" | "quietTurns" | "sizeOf"
    >
  > = {}
) =>
  Effect.gen(function* () {
    const sent: Array<Sent> = []
    const batcher = yield* Batcher.make<number, string, string>({
      name: "controlled",
      kind: "test",
      run: (questions) =>
        Effect.gen(function* () {
          const answer = yield* Deferred.make<ReadonlyArray<string>, string>()
          sent.push({ questions, answer })
          return yield* Deferred.await(answer)
        }),
      batchMax: 100,
      queueMax: 100,
      inFlightMax: 1,
      ...limits
    })
    return { batcher, sent, batches: () => sent.map(({ questions }) => questions) }
  })

/** Lets all other fibers go on until they wait. */
const others = Effect.repeatN(Effect.yieldNow(), 20)

const answer = ({ answer, questions }: Sent) =>
  Effect.zipRight(Deferred.succeed(answer, questions.map(answerOf)), others)

const submitAll = (batcher: Batcher.Batcher<number, string, string>, questions: ReadonlyArray<number>) =>
  Effect.tap(
    Effect.forEach(questions, (question) => Effect.fork(batcher.submit(question))),
    () => others
  )

describe("a batcher", () => {
  it.scoped("sends a lone question at once", () =>
    Effect.gen(function* () {
      const { batcher, batches, sent } = yield* controlled()
      const [fiber] = yield* submitAll(batcher, [1])
      expect(batches()).toEqual([[1]])
      yield* answer(sent[0]!)
      expect(yield* Fiber.join(fiber!)).toBe("answer 1")
    })
  )

  it.scoped("says of each that was asked together what became of it, over several batches", () =>
    Effect.gen(function* () {
      const { batcher, batches, sent } = yield* controlled({ batchMax: 2 })
      const exits: Array<Exit.Exit<string, string>> = []
      for (const question of [1, 2, 3]) batcher.submitThen(question, (exit) => exits.push(exit))
      yield* others
      yield* answer(sent[0]!)
      expect(batches()).toEqual([[1, 2], [3]])
      yield* Deferred.fail(sent[1]!.answer, "no")
      yield* others
      const succeeded = [1, 2].map((question) => Exit.succeed(answerOf(question)))
      expect(exits).toEqual([...succeeded, Exit.fail("no")])
    })
  )

  it.scoped("asks without an effect, beside those who ask with one, and says where there is no room", () =>
    Effect.gen(function* () {
      const { batcher, batches, sent } = yield* controlled({ queueMax: 2 })
      const exits: Array<Exit.Exit<string, string>> = []
      const push = (question: number) => batcher.submitThen(question, (exit) => exits.push(exit))
      expect(push(1)).toBe(true)
      yield* others
      const fibers = yield* submitAll(batcher, [2])
      expect([push(3), push(4)]).toEqual([true, false])
      yield* answer(sent[0]!)
      expect(batches()).toEqual([[1], [2, 3]])
      yield* Deferred.fail(sent[1]!.answer, "no")
      yield* others
      expect(exits).toEqual([Exit.succeed(answerOf(1)), Exit.fail("no")])
      expect(yield* Effect.flip(Fiber.join(fibers[0]!))).toBe("no")
    })
  )

  it.scoped(
    "asks for as many batches at once as before when one that waited for a permit has found nothing left",
    () =>
      Effect.gen(function* () {
        const entering: Array<() => void> = []
        const permits = {
          enter: (begin: (leave: () => void) => void) => entering.push(() => begin(() => {}))
        }
        const { batcher, batches, sent } = yield* controlled({ inFlightMax: 2, permits })
        const enterAll = Effect.suspend(() => {
          entering.splice(0).forEach((enter) => enter())
          return others
        })
        for (let round = 0; round < 3; round++) {
          yield* submitAll(batcher, [round])
          yield* submitAll(batcher, [10 + round])
          // The first takes both.
          expect(entering).toHaveLength(2)
          yield* enterAll
          expect(batches().at(-1)).toEqual([round, 10 + round])
          yield* answer(sent.at(-1)!)
          yield* enterAll
        }
        expect(sent).toHaveLength(3)
      })
  )

  it.scoped("interrupts who waits, or asks without an effect, when its scope closes", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { batcher } = yield* Scope.extend(controlled(), scope)
      const exits: Array<Exit.Exit<string, string>> = []
      const push = (question: number) => batcher.submitThen(question, (exit) => exits.push(exit))
      push(1)
      push(2)
      yield* others
      yield* Scope.close(scope, Exit.void)
      push(3)
      yield* others
      expect(exits.map(Exit.isInterrupted)).toEqual([true, true, true])
    })
  )

  it.scoped(
    "sends what is direct without a fiber, and interrupts who waits for it when its scope closes",
    () =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const begun: Array<ReadonlyArray<number>> = []
        const ends: Array<Parameters<Run<ReadonlyArray<string>, string>>[0]> = []
        const batcher = yield* Batcher.make<number, string, string>({
          name: "direct",
          kind: "test",
          run: (questions) =>
            new Direct((done) => {
              if (questions.includes(0)) throw new Error("a defect")
              begun.push(questions)
              ends.push(done)
            }),
          batchMax: 2,
          queueMax: 100,
          inFlightMax: 1
        }).pipe(Scope.extend(scope), Effect.withTracerEnabled(false))
        const exits: Array<Exit.Exit<string, string>> = []
        for (const question of [1, 2, 0, 3, 4, 5, 6]) batcher.submitThen(question, (exit) => exits.push(exit))
        yield* others
        ends[0]!(Exit.succeed([1, 2].map(answerOf)))
        yield* others
        expect(exits).toEqual([
          ...[1, 2].map((question) => Exit.succeed(answerOf(question))),
          ...[0, 3].map(() => Exit.die(new Error("a defect")))
        ])
        ends[1]!(Exit.fail("no"))
        yield* others
        expect(exits.slice(4)).toEqual([Exit.fail("no"), Exit.fail("no")])
        const [fiber] = yield* submitAll(batcher, [7])
        yield* Scope.close(scope, Exit.void)
        expect(Exit.isInterrupted(yield* Fiber.await(fiber!))).toBe(true)
        ends[2]!(Exit.succeed(["late"]))
        yield* others
        expect(begun).toEqual([[1, 2], [4, 5], [6]])
        expect(exits.slice(6).map(Exit.isInterrupted)).toEqual([true])
      })
  )

  it.scoped("gathers what comes while a batch is under way into one more, in order", () =>
    Effect.gen(function* () {
      const { batcher, batches, sent } = yield* controlled()
      yield* submitAll(batcher, [1])
      const fibers = yield* submitAll(batcher, [2, 3, 4])
      expect(batches()).toEqual([[1]])
      yield* answer(sent[0]!)
      expect(batches()).toEqual([[1], [2, 3, 4]])
      yield* answer(sent[1]!)
      expect(yield* Fiber.join(Fiber.all(fibers))).toEqual([2, 3, 4].map(answerOf))
    })
  )

  it.scoped("counts questions by their size, and sends one alone that is larger than a batch", () =>
    Effect.gen(function* () {
      const { batcher, batches, sent } = yield* controlled({
        batchMax: 5,
        queueMax: 14,
        sizeOf: (question) => question
      })
      yield* submitAll(batcher, [1])
      yield* submitAll(batcher, [2, 3, 1, 7])
      expect(Exit.isFailure(yield* Effect.exit(batcher.submit(2)))).toBe(true)
      yield* submitAll(batcher, [1])
      for (let n = 0; n < 4; n++) yield* answer(sent[n]!)
      expect(batches()).toEqual([[1], [2, 3], [1], [7], [1]])
      yield* submitAll(batcher, [9, 5])
      expect(Exit.isFailure(yield* Effect.exit(batcher.submit(1)))).toBe(true)
    })
  )

  it.scoped("waits with quiet turns for those who are about to ask, and for nobody else", () =>
    Effect.gen(function* () {
      const turns: Array<() => void> = []
      const gathering = (batchMax: number) =>
        Effect.provideService(controlled({ quietTurns: 2, batchMax }), Batcher.GatheringTurn, (next) =>
          turns.push(next)
        )
      const turn = Effect.zipRight(
        Effect.sync(() => turns.shift()!()),
        others
      )
      const { batcher, batches } = yield* gathering(3)
      const ask = (question: number) => batcher.submitThen(question, () => {})
      ask(0)
      yield* turn
      ask(1)
      for (const _ of [1, 2]) yield* turn
      expect(batches()).toEqual([])
      ask(2)
      ask(3)
      yield* turn
      // The fourth comes too late: the batch was full.
      expect(batches()).toEqual([[0, 1, 2]])
      expect(turns).toEqual([])
      const lone = yield* gathering(3)
      lone.batcher.submitThen(7, () => {})
      yield* turn
      expect(lone.batches()).toEqual([])
      yield* turn
      expect(lone.batches()).toEqual([[7]])
    })
  )

  it.scopedLive("gathers with a turn of the event loop what all connections ask in one", () =>
    Effect.gen(function* () {
      const { batcher, batches } = yield* Effect.provideService(
        controlled({ quietTurns: 1 }),
        Batcher.GatheringTurn,
        Batcher.eventLoopTurn
      )
      yield* Effect.async<void>((resume) => {
        // Each by a call of its own from the event loop, with all fibers gone on in between, as requests are read from their sockets.
        const ask = (question: number) => () => batcher.submitThen(question, () => {})
        for (const question of [1, 2, 3]) setImmediate(ask(question))
        const look = () => (batches().length > 0 ? resume(Effect.void) : void setImmediate(look))
        setImmediate(look)
      })
      expect(batches()).toEqual([[1, 2, 3]])
    })
  )

  it.scoped("sends no more than batchMax together", () =>
    Effect.gen(function* () {
      const { batcher, batches, sent } = yield* controlled({ batchMax: 2 })
      yield* submitAll(batcher, [1])
      const fibers = yield* submitAll(batcher, [2, 3, 4, 5, 6])
      for (let batch = 0; batch < 4; batch++) yield* answer(sent[batch]!)
      expect(batches()).toEqual([[1], [2, 3], [4, 5], [6]])
      expect(yield* Fiber.join(Fiber.all(fibers))).toEqual([2, 3, 4, 5, 6].map(answerOf))
    })
  )

  it.scoped("has up to inFlightMax batches under way side by side", () =>
    Effect.gen(function* () {
      const { batcher, batches, sent } = yield* controlled({ inFlightMax: 2 })
      yield* submitAll(batcher, [1])
      yield* submitAll(batcher, [2])
      yield* submitAll(batcher, [3, 4])
      expect(batches()).toEqual([[1], [2]])
      yield* answer(sent[1]!)
      expect(batches()).toEqual([[1], [2], [3, 4]])
    })
  )

  it.scoped("refuses at once, and asks nothing, when queueMax are waiting", () =>
    Effect.gen(function* () {
      const { batcher, batches, sent } = yield* controlled({ queueMax: 2 })
      yield* submitAll(batcher, [1])
      const fibers = yield* submitAll(batcher, [2, 3])
      expect(yield* Effect.flip(batcher.submit(4))).toEqual(new Batcher.QueueFull({ queue: "controlled" }))
      expect(yield* Effect.flip(Effect.asVoid(batcher.ask(5)))).toEqual(
        new Batcher.QueueFull({ queue: "controlled" })
      )
      yield* answer(sent[0]!)
      const [later] = yield* submitAll(batcher, [6])
      yield* answer(sent[1]!)
      yield* answer(sent[2]!)
      expect(batches()).toEqual([[1], [2, 3], [6]])
      expect(yield* Fiber.join(Fiber.all([...fibers, later!]))).toEqual([2, 3, 6].map(answerOf))
    })
  )

  it.scoped("fails exactly the members of a batch that failed, and goes on", () =>
    Effect.gen(function* () {
      const { batcher, sent } = yield* controlled()
      const [first] = yield* submitAll(batcher, [1])
      const second = yield* submitAll(batcher, [2, 3])
      yield* answer(sent[0]!)
      const third = yield* submitAll(batcher, [4, 5])
      yield* Effect.zipRight(Deferred.fail(sent[1]!.answer, "broken"), others)
      yield* answer(sent[2]!)
      expect(yield* Fiber.join(first!)).toBe("answer 1")
      for (const member of second) expect(yield* Effect.flip(Fiber.join(member))).toBe("broken")
      expect(yield* Fiber.join(Fiber.all(third))).toEqual([4, 5].map(answerOf))
    })
  )

  it.scoped.each([
    ["dies", () => Effect.dieMessage("a defect")],
    [
      "throws",
      () => {
        throw new Error("a defect")
      }
    ],
    ["interrupts itself", () => Effect.interrupt]
  ] as ReadonlyArray<readonly [string, () => Effect.Effect<never>]>)(
    "ends the waiting for a batch that %s, and goes on",
    ([, broken]) =>
      Effect.gen(function* () {
        const batcher = yield* Batcher.make<number, string, never>({
          name: "broken once",
          kind: "test",
          run: (questions) => (questions.includes(1) ? broken() : Effect.succeed(questions.map(answerOf))),
          batchMax: 100,
          queueMax: 100,
          inFlightMax: 1
        })
        const first = yield* Effect.fork(batcher.submit(1))
        expect(Exit.isFailure(yield* Fiber.await(first))).toBe(true)
        expect(yield* batcher.submit(2)).toBe("answer 2")
      })
  )

  it.scoped("asks for an interrupted caller all the same, and answers the others", () =>
    Effect.gen(function* () {
      const { batcher, batches, sent } = yield* controlled()
      const [starter] = yield* submitAll(batcher, [1])
      const [left, gone, right] = yield* submitAll(batcher, [2, 3, 4])
      yield* Fiber.interrupt(starter!)
      yield* Fiber.interrupt(gone!)
      yield* answer(sent[0]!)
      yield* answer(sent[1]!)
      expect(batches()).toEqual([[1], [2, 3, 4]])
      expect(yield* Fiber.join(left!)).toBe("answer 2")
      expect(yield* Fiber.join(right!)).toBe("answer 4")
      const [later] = yield* submitAll(batcher, [5])
      yield* answer(sent[2]!)
      expect(yield* Fiber.join(later!)).toBe("answer 5")
    })
  )

  it.scoped("has asked once `ask` has ended, whether or not anyone waits", () =>
    Effect.gen(function* () {
      const { batcher, batches, sent } = yield* controlled()
      yield* Effect.zipRight(batcher.ask(1), others)
      const waiting = yield* batcher.ask(2)
      yield* answer(sent[0]!)
      yield* answer(sent[1]!)
      expect(batches()).toEqual([[1], [2]])
      expect(yield* waiting).toBe("answer 2")
    })
  )

  it.effect("interrupts all who wait when its scope closes, and who asks afterwards", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { batcher, batches } = yield* Scope.extend(controlled(), scope)
      const inFlight = yield* submitAll(batcher, [1])
      const waiting = yield* submitAll(batcher, [2, 3])
      yield* Scope.close(scope, Exit.void)
      const after = yield* submitAll(batcher, [4])
      for (const fiber of [...inFlight, ...waiting, ...after]) {
        expect(Exit.isInterrupted(yield* Fiber.await(fiber))).toBe(true)
      }
      expect(batches()).toEqual([[1]])
    })
  )

  it.effect("interrupts who asked in the very turn in which its scope closes", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { batcher } = yield* Scope.extend(controlled(), scope)
      const waiting = yield* batcher.ask(1)
      yield* Scope.close(scope, Exit.void)
      const fiber = yield* Effect.fork(waiting)
      expect(Exit.isInterrupted(yield* Fiber.await(fiber))).toBe(true)
    })
  )
})
