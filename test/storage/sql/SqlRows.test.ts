import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { rowsOf } from "../../../src/storage/sql/SqlRows.ts"
import { onEveryDatabase } from "../../support/Stores.ts"

const plain = [
  "",
  "null",
  "a,b",
  "{}",
  "{a}",
  '"',
  '\\"',
  "\\",
  "\\n",
  '{"0a\\"b":1}',
  "ü ✓ 😀",
  " ",
  "'",
  null
]
const controls = ["line\nbreak", "tab\t", "\b\f\r\u0001", "\u2028"]

onEveryDatabase((client) => {
  describe("rows that a statement selects from", () => {
    for (const [kind, texts] of Object.entries({
      plain,
      "with control characters": [...plain, ...controls]
    })) {
      it.live(`have each value as it was given, of texts that are ${kind}`, () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const numbers = texts.map((_, index) => index - 3)
          const given = rowsOf(sql, { number: ["integer", numbers], text: ["text", texts] })
          const rows = yield* sql<{
            number: number
            text: string | null
          }>`SELECT number, text FROM ${given} AS given`
          expect(rows).toEqual(texts.map((text, index) => ({ number: numbers[index], text })))
        }).pipe(Effect.provide(client))
      )
    }

    it.live("are none where none is given", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        expect(yield* sql`SELECT text FROM ${rowsOf(sql, { text: ["text", []] })} AS given`).toEqual([])
      }).pipe(Effect.provide(client))
    )
  })
})
