import { FileSystem, Path } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Data, Effect, ExecutionStrategy, Exit, Layer, Option, Scope } from "effect"
import * as FairSemaphore from "../../fibers/FairSemaphore.ts"
import { count, empty, widen } from "../../keys/PackedKeys.ts"
import { KeyFile } from "./KeyFile.ts"
import { StorageError } from "../StorageError.ts"

/** The file at the path is no key file, or has another key length. */
export class KeyFileUnusable extends Data.TaggedError("KeyFileUnusable")<{
  readonly path: string
  readonly reason: string
}> {
  override get message() {
    return `The key file ${this.path} cannot be used: ${this.reason}. Move it away to go on without the keys in it.`
  }
}

/** What a key file begins with. */
const magic = "LMKEYS1\n"

/** The magic, the width as 64 bits, and then the two numbers that move, as 64 bits each and in one sector of the disk: keys taken, and keys put in. */
const headerBytes = 32
const marksAt = 16

/** A file with at least this many bytes of taken keys, which are also more than those that are left, is rewritten without them. */
const deadBytesMinDefault = 1_048_576

const headerOf = (width: number, taken: number, end: number) => {
  const header = Buffer.alloc(headerBytes)
  header.write(magic, "latin1")
  header.writeBigUInt64LE(BigInt(width), 8)
  header.writeBigUInt64LE(BigInt(taken), marksAt)
  header.writeBigUInt64LE(BigInt(end), marksAt + 8)
  return header
}

/** The marks of a header, or what is wrong with it. */
const parse = (header: Uint8Array, width: number, bytes: bigint) => {
  const view = Buffer.from(header)
  if (view.length < headerBytes || view.toString("latin1", 0, 8) !== magic) return "it is no key file"
  const found = view.readBigUInt64LE(8)
  if (found !== BigInt(width)) return `its keys have ${found} characters, not ${width}`
  const [taken, end] = [view.readBigUInt64LE(marksAt), view.readBigUInt64LE(marksAt + 8)]
  return taken > end || BigInt(headerBytes) + end * found > bytes
    ? "it is damaged"
    : { taken: Number(taken), end: Number(end) }
}

/** A failure of the disk. */
const failing = (operation: string, applied: "no" | "unknown") =>
  Effect.mapError(
    ({ message }: PlatformError) =>
      new StorageError({ operation: `KeyFile.${operation}`, applied, reason: message })
  )

const writeAt = (file: FileSystem.File, at: number, bytes: Uint8Array) =>
  file.seek(at, "start").pipe(Effect.zipRight(file.writeAll(bytes)), Effect.zipRight(file.sync))

const readAt = (file: FileSystem.File, at: number, bytes: number) =>
  file
    .seek(at, "start")
    .pipe(Effect.zipRight(file.readAlloc(bytes)), Effect.map(Option.getOrElse(() => new Uint8Array(0))))

/**
 * Opens the key file at `path`, or creates it. No other process may open it; the scope closes it.
 *
 * The marks in the header are moved in memory before they are written, and never back: after a failed write they are ahead of the disk, so that keys are skipped rather than
 * given twice, and the next write updates the disk.
 */
export const make = Effect.fn("KeyFile.make")(function* (
  path: string,
  width: number,
  deadBytesMin = deadBytesMinDefault
) {
  const fs = yield* FileSystem.FileSystem
  const { dirname } = yield* Path.Path
  const one = FairSemaphore.make(1)
  const scope = yield* Effect.scope

  /** Whether a crash of the machine could still bring the former file back. */
  let isFolderStale = false
  const syncFolder = Effect.suspend(() =>
    isFolderStale
      ? Effect.scoped(Effect.flatMap(fs.open(dirname(path), { flag: "r" }), (folder) => folder.sync)).pipe(
          Effect.map(() => {
            isFolderStale = false
          })
        )
      : Effect.void
  )

  /** Replaces the file by one with these keys, and gives it open. */
  const replaced = Effect.fnUntraced(function* (keys: Uint8Array) {
    const handle = yield* Scope.fork(scope, ExecutionStrategy.sequential)
    return yield* Effect.gen(function* () {
      const file = yield* Scope.extend(fs.open(`${path}.new`, { flag: "w+", mode: 0o600 }), handle)
      const end = keys.length / width
      yield* writeAt(file, 0, Buffer.concat([headerOf(width, 0, end), keys]))
      yield* fs.rename(`${path}.new`, path)
      isFolderStale = true
      return { file, handle, taken: 0, end }
    }).pipe(Effect.onError((cause) => Scope.close(handle, Exit.failCause(cause))))
  })

  const opened = Effect.gen(function* () {
    const handle = yield* Scope.fork(scope, ExecutionStrategy.sequential)
    const file = yield* Scope.extend(fs.open(path, { flag: "r+" }), handle)
    const marks = parse(yield* readAt(file, 0, headerBytes), width, (yield* file.stat).size)
    if (typeof marks === "string") return yield* new KeyFileUnusable({ path, reason: marks })
    return { file, handle, ...marks }
  })

  let state = yield* Effect.if(fs.exists(path), {
    onTrue: () => opened,
    onFalse: () => Effect.tap(replaced(new Uint8Array(0)), syncFolder)
  }).pipe(
    Effect.mapError((error) =>
      error._tag === "KeyFileUnusable" ? error : new KeyFileUnusable({ path, reason: error.message })
    )
  )

  const writeMarks = Effect.suspend(() =>
    writeAt(state.file, marksAt, headerOf(width, state.taken, state.end).subarray(marksAt))
  )

  /** The bytes of keys number `from` up to, and not including, `to`. */
  const read = (from: number, to: number) =>
    readAt(state.file, headerBytes + from * width, (to - from) * width)

  /** Removes the keys that were taken, once they are most of the file. */
  const compact = Effect.gen(function* () {
    const { end, handle, taken } = state
    if (taken * width < deadBytesMin || taken < end - taken) return
    state = yield* replaced(taken === end ? new Uint8Array(0) : yield* read(taken, end))
    yield* Scope.close(handle, Exit.void)
    yield* syncFolder
  })

  /** One operation at a time, without interruption. */
  const exclusively = <A>(operation: Effect.Effect<A, StorageError>) =>
    Effect.uninterruptible(one(Effect.zipRight(syncFolder.pipe(failing("syncFolder", "no")), operation)))

  return KeyFile.of({
    width,
    append: (keys) =>
      exclusively(
        Effect.gen(function* () {
          const bytes = widen(keys, width).bytes
          yield* Effect.gen(function* () {
            yield* compact
            yield* writeAt(state.file, headerBytes + state.end * width, bytes)
          }).pipe(failing("append", "no"))
          state = { ...state, end: state.end + count(keys) }
          yield* writeMarks.pipe(failing("append", "unknown"))
        })
      ),
    take: (wanted) =>
      exclusively(
        Effect.gen(function* () {
          const { end, taken } = state
          const to = Math.min(end, taken + wanted)
          if (to === taken) return empty
          const bytes = yield* read(taken, to).pipe(failing("take", "no"))
          state = { ...state, taken: to }
          yield* writeMarks.pipe(failing("take", "unknown"))
          return { width, bytes }
        })
      ),
    size: Effect.sync(() => state.end - state.taken)
  })
}, Effect.uninterruptible)

/** See {@link make}. */
export const layer = (
  path: string,
  width: number
): Layer.Layer<KeyFile, KeyFileUnusable, FileSystem.FileSystem | Path.Path> =>
  Layer.scoped(KeyFile, make(path, width))
