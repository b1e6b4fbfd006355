import { Effect, type Exit } from "effect"
import { StorageError } from "../../storage/StorageError.ts"
import type { Journal } from "../Journal.ts"
import type { Network } from "../world/Network.ts"
import {
  type Begins,
  type CallFaults,
  CallFailed,
  type CrashPoint,
  type SlowCalls,
  type VirtualServer
} from "../world/VirtualServer.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import type { World } from "../world/World.ts"

/** Where a simulated store stands, and what befalls those who call it. */
export interface StoreOptions {
  readonly world: World
  readonly network: Network
  /** Is told what the store does. */
  readonly journal: Journal
  /** How single calls fare now; asked at each call. */
  readonly faults: () => CallFaults
  readonly slow?: (() => SlowCalls) | undefined
  readonly crashPoint: CrashPoint
  readonly begins?: Begins
}

/** A store's calls of one process: `apply` is what happens at the server, at one moment. Its expected errors are answers too. */
export type StoreCall = <A, E>(
  operation: string,
  apply: () => Exit.Exit<A, E>
) => Effect.Effect<A, E | StorageError>

/** What a call that was not answered is to the ports. */
export const asStorageError = ({ applied, operation, reason }: CallFailed): StorageError =>
  new StorageError({ operation, applied, reason })

/** See {@link StoreCall}. */
export const storeCall =
  (server: VirtualServer, process: VirtualProcess): StoreCall =>
  (operation, apply) =>
    Effect.flatten(Effect.mapError(server.call(process, operation, apply), asStorageError))
