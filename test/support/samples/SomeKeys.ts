import { fromStrings, type PackedKeys, toStrings } from "../../../src/keys/PackedKeys.ts"
import type { BatchRecord } from "../../../src/storage/keys/KeyStock.ts"

/** `prefix0`, `prefix1`, … */
export const numbered = (prefix: string, count: number): Array<string> =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

/** The same, packed. */
export const keys = (prefix: string, count: number): PackedKeys => fromStrings(numbered(prefix, count))

/** All keys that stand in batch records, sorted; one that stands in two stands here twice. */
export const keysRecorded = (batches: ReadonlyArray<BatchRecord>): Array<string> =>
  batches.flatMap((batch) => toStrings(batch.keys)).toSorted()
