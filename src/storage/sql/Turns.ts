import type { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import { plainKeyOf } from "../../keys/QualifiedKey.ts"
import { inTransaction } from "./SqlTransaction.ts"

/** What a question is about, by names that only questions about the same have. */
type NamesOf<A> = (question: A) => ReadonlyArray<string>

/** The places of questions, split into turns so that no turn has two about the same. */
const turnsOf = <A>(
  questions: ReadonlyArray<A>,
  namesOf: NamesOf<A>
): ReadonlyArray<ReadonlyArray<number>> => {
  const turns: Array<Array<number>> = []
  const nextOf = new Map<string, number>()
  for (const [place, question] of questions.entries()) {
    const names = namesOf(question)
    const turn = names.reduce((latest, name) => Math.max(latest, nextOf.get(name) ?? 0), 0)
    for (const name of names) nextOf.set(name, turn + 1)
    const present = turns[turn]
    if (present === undefined) turns.push([place])
    else present.push(place)
  }
  return turns
}

const askAll = <A, B, E, R>(
  questions: ReadonlyArray<A>,
  turns: ReadonlyArray<ReadonlyArray<number>>,
  ask: (questions: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E, R>
): Effect.Effect<ReadonlyArray<B>, E, R> =>
  Effect.gen(function* () {
    const answers: Array<B> = []
    for (const places of turns) {
      const some = yield* ask(places.map((place) => questions[place]!))
      places.forEach((place, index) => (answers[place] = some[index]!))
    }
    return answers
  })

/**
 * Asks the questions of a batch: at once, but those about the same one after the other, in their order. A statement can have each of its rows once: of two
 * for one key a database's `UPDATE … FROM` takes any, and an `INSERT` fails. Several turns are one transaction, so that a batch is applied whole or not at all: it begins with `lock`, given all
 * names, as turn after turn would lock rows in no order, and batches would deadlock.
 */
export const askInTurns = <A, B, E, R>(
  sql: SqlClient.SqlClient,
  questions: ReadonlyArray<A>,
  namesOf: NamesOf<A>,
  lock: (names: ReadonlyArray<string>) => Effect.Effect<unknown, E, R>,
  ask: (questions: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E, R>
): Effect.Effect<ReadonlyArray<B>, E | SqlError, R> =>
  Effect.suspend(() => {
    const turns = turnsOf(questions, namesOf)
    const asked = askAll(questions, turns, ask)
    return turns.length > 1
      ? inTransaction(sql, Effect.zipRight(lock(questions.flatMap(namesOf)), asked))
      : asked
  })

/** Whether questions are about links of one key in several domains. */
const haveKeyTwice = (questions: ReadonlyArray<{ readonly key: string }>): boolean =>
  questions.some(({ key }) => plainKeyOf(key) !== key) &&
  new Set(questions.map(({ key }) => plainKeyOf(key))).size < questions.length

/** The places of questions about keys, in the order of their keys; `undefined` where two are about one, in whatever domains. */
export const placesByKey = (
  questions: ReadonlyArray<{ readonly key: string }>
): ReadonlyArray<number> | undefined => {
  const keyOf = (place: number) => questions[place]!.key
  const places = sortedByKey(
    questions,
    questions.map((_, place) => place)
  )
  const isTwice = places.some((place, index) => index > 0 && keyOf(place) === keyOf(places[index - 1]!))
  return isTwice || haveKeyTwice(questions) ? undefined : places
}

const sortedByKey = (
  questions: ReadonlyArray<{ readonly key: string }>,
  places: ReadonlyArray<number>
): ReadonlyArray<number> => {
  const keyOf = (place: number) => questions[place]!.key
  return places.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0))
}

/**
 * The same as `askInTurns` for questions about keys, in the order of their keys, so that two batches that overlap wait for each other and never deadlock.
 */
export const askByKey = <A extends { readonly key: string }, B, E, R>(
  sql: SqlClient.SqlClient,
  questions: ReadonlyArray<A>,
  ask: (questions: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E, R>
): Effect.Effect<ReadonlyArray<B>, E | SqlError, R> =>
  Effect.suspend(() => {
    const places = placesByKey(questions)
    if (places !== undefined) return askAll(questions, places.length === 0 ? [] : [places], ask)
    const turns = turnsOf(questions, ({ key }) => [plainKeyOf(key)]).map((turn) =>
      sortedByKey(questions, turn)
    )
    return inTransaction(sql, askAll(questions, turns, ask))
  })
