import { expect, it } from "@effect/vitest"
import { Context, Effect, Either } from "effect"
import type { KeyBuffer } from "../../../src/actors/keys/KeyBuffer.ts"
import { AsideKeys } from "../../../src/sim/actors/AsideKeys.ts"
import type { VirtualProcess } from "../../../src/sim/world/VirtualProcess.ts"
import { GuardedCreates } from "../../../src/storage/links/GuardedCreates.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import { PartlyFailed, StorageError } from "../../../src/storage/StorageError.ts"
import { plainRow } from "../../support/Plain.ts"

const process = { id: "node" } as VirtualProcess

const linkOf = (key: string) => ({ ...plainRow, key, url: "", custom: false, createdAt: 1, updatedAt: 1 })

const failed = (applied: "no" | "unknown") =>
  new StorageError({ operation: "insertMany", applied, reason: "" })

/** The keys that are aside when three were taken, and a call to bind them has ended. */
const asideAfter = (ended: Effect.Effect<ReadonlyArray<boolean>, StorageError>) =>
  Effect.gen(function* () {
    const keys = ["k0", "k1", "k2"]
    const aside = new AsideKeys()
    const buffer = { takeMany: () => Effect.succeed(keys) } as unknown as typeof KeyBuffer.Service
    yield* aside.over(process, buffer).takeMany(3)
    const ports = Context.make(LinkStore, { insertMany: () => ended } as unknown as typeof LinkStore.Service)
    const noted = aside.asked(
      process,
      Context.add(ports, GuardedCreates, {} as typeof GuardedCreates.Service)
    )
    yield* Effect.exit(Context.get(noted, LinkStore).insertMany(keys.map(linkOf)))
    return [...aside.of(process)]
  })

it.effect("Keys whose links were certainly refused are aside again, and no others", () =>
  Effect.gen(function* () {
    expect(yield* asideAfter(Effect.succeed([true, true, false]))).toEqual([])
    expect(yield* asideAfter(failed("no"))).toEqual(["k0", "k1", "k2"])
    expect(yield* asideAfter(failed("unknown"))).toEqual([])
    const outcomes = [Either.right(true), Either.left(failed("no")), Either.left(failed("unknown"))]
    const partly = new PartlyFailed({ operation: "insertMany", applied: "unknown", reason: "", outcomes })
    expect(yield* asideAfter(partly)).toEqual(["k1"])
  })
)
