import { Effect, Layer, Option } from "effect"
import * as Concurrent from "../fibers/Concurrent.ts"
import { join, resolve } from "node:path"
import { DeploymentName } from "./Deployment.ts"
import type { Settings } from "./Settings.ts"
import type { RedisUrl } from "../storage/redis/RedisUrl.ts"
import * as Witness from "../storage/nodes/Witness.ts"
import * as WitnessFile from "../storage/nodes/WitnessFile.ts"
import * as WitnessRedis from "../storage/nodes/WitnessRedis.ts"

/**
 * The witnesses of a process alone: a file beside the data folder, which a restore of the folder leaves alone, and one in it, because the parent folder may not be
 * writable. One of them is enough. Several processes over PostgreSQL may use the same name for their data folders.
 */
export const filesOf = (
  { dataDir, databaseUrl }: Pick<Settings, "dataDir" | "databaseUrl">,
  deployment: string
): ReadonlyArray<string> => {
  const folder = resolve(dataDir)
  return Option.isNone(databaseUrl)
    ? [`${folder}.witness`, join(folder, "witness")]
    : [`${folder}-${deployment}.witness`, join(folder, `${deployment}.witness`)]
}

/** See {@link filesOf}. */
export const alone = (
  settings: Pick<Settings, "dataDir" | "databaseUrl">
): Layer.Layer<Witness.Witness, never, DeploymentName> =>
  Layer.effect(
    Witness.Witness,
    Effect.gen(function* () {
      const deployment = yield* DeploymentName
      return Witness.among(
        yield* Effect.forEach(filesOf(settings, deployment), (path) => WitnessFile.make(path, deployment))
      )
    })
  )

/** The witnesses of a cluster: each Redis of its pools. */
export const clustered = (
  urls: ReadonlyArray<RedisUrl>
): Layer.Layer<Witness.Witness, never, DeploymentName> =>
  Layer.scoped(
    Witness.Witness,
    Effect.gen(function* () {
      const deployment = yield* DeploymentName
      return Witness.among(yield* Concurrent.forEach(urls, (url) => WitnessRedis.make(url, deployment)))
    })
  )
