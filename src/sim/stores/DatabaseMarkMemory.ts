import { Clock, Effect, Layer } from "effect"
import { count } from "../../keys/PackedKeys.ts"
import { DatabaseMark, type Identity, type Regression, toldMax } from "../../storage/nodes/DatabaseMark.ts"
import type { Watermark } from "../../storage/keys/KeyRangeStore.ts"
import * as KeyRangeStoreMemory from "./KeyRangeStoreMemory.ts"
import * as KeyStockMemory from "./KeyStockMemory.ts"

/** What a database in memory has of keys. */
export interface Tables extends KeyStockMemory.Tables {
  readonly slots: KeyRangeStoreMemory.Slots
  readonly regressions: Array<Regression>
  /** Of the database itself. */
  readonly own: { mark: number; lineage: number; movedAt: number; identity: Identity }
}

/** Empty tables. */
export const emptyTables = (): Tables => ({
  ...KeyStockMemory.emptyTables(),
  slots: new Map(),
  regressions: [],
  own: { mark: 0, lineage: 0, movedAt: 0, identity: { system: undefined, timeline: 0 } }
})

/** `DatabaseMark` over tables, which others may look into. */
export const makeOver = ({
  ahead,
  batches,
  epochs,
  own,
  regressions,
  slots,
  stock
}: Tables): typeof DatabaseMark.Service => {
  const raiseWatermarks = (witnessed: ReadonlyArray<Watermark>) => {
    let skipped = 0
    for (const watermark of witnessed) {
      const id = KeyRangeStoreMemory.idOf(watermark)
      const missing = watermark.next - (slots.get(id)?.next ?? 0)
      if (missing <= 0 && slots.has(id)) continue
      skipped += missing
      slots.set(id, watermark)
    }
    return skipped
  }

  const dropReady = () => {
    let dropped = 0
    for (const batch of batches.values()) dropped += count(batch.keys)
    batches.clear()
    for (const keys of [stock, ahead.status.unused, ahead["two-table"].unused]) {
      dropped += keys.size
      keys.clear()
    }
    for (const [shard, epoch] of epochs) epochs.set(shard, epoch + 1)
    return dropped
  }

  const markOf = () => ({ mark: own.mark, lineage: own.lineage, timeline: own.identity.timeline })

  return DatabaseMark.of({
    move: ({ floor, timeline }) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        if (own.mark < floor || own.identity.timeline !== timeline) return undefined
        own.mark++
        own.movedAt = now
        return markOf()
      }),
    look: Effect.sync(markOf),
    recover: ({ mark: witnessed, timeline, watermarks }) =>
      Effect.map(Clock.currentTimeMillis, (at) => {
        if (own.mark >= witnessed || own.identity.timeline !== timeline) return undefined
        const regression: Regression = {
          at,
          since: own.movedAt,
          mark: own.mark,
          witnessed,
          skipped: raiseWatermarks(watermarks),
          dropped: dropReady()
        }
        regressions.unshift(regression)
        own.mark = witnessed + 1
        own.lineage = witnessed + 1
        own.movedAt = at
        return regression
      }),
    regressions: Effect.sync(() => regressions.slice(0, toldMax)),
    identity: Effect.sync(() => own.identity)
  })
}

/** `DatabaseMark` in this process's memory: the reference that other backends are compared with. */
export const layer: Layer.Layer<DatabaseMark> = Layer.sync(DatabaseMark, () => makeOver(emptyTables()))
