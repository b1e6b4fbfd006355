// Servers in containers.

import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { run } from "./Command.ts"
import { keep } from "./Keeper.ts"
import { startOnFreePort } from "./OwnServer.ts"
import { type Source, Unavailable } from "./Service.ts"

/** A container with a server. */
export interface Container {
  /** Begins its name. */
  readonly name: string
  readonly image: string
  /** Where the server listens in the container. */
  readonly port: number
  /** The environment variable in which the container gets the server's password: a command line can be seen by all. */
  readonly passwordVariable: string
  /** What the container is told to run. */
  readonly command: ReadonlyArray<string>
  readonly url: (password: string) => (port: number) => string
  /** See `Starting`. */
  readonly version: (url: string) => Effect.Effect<string, Unavailable>
}

/** A server in a container, where a docker engine answers. The first start may have to fetch the image: at most 5 minutes. */
export const dockerServer = ({
  command,
  image,
  passwordVariable,
  url,
  version,
  ...container
}: Container): Source =>
  Effect.gen(function* () {
    yield* Effect.mapError(
      run("docker", ["version", "--format", "{{.Server.Version}}"]),
      () => new Unavailable({ reason: "no docker engine answers" })
    )
    const name = `linkmint-${container.name}-${randomBytes(6).toString("hex")}`
    const password = randomBytes(16).toString("hex")
    const start = (port: number) => {
      const published = `--publish=127.0.0.1:${port}:${container.port}`
      const env = `--env=${passwordVariable}`
      return keep({
        commands: [["docker", "run", "--rm", `--name=${name}`, published, env, image, ...command]],
        env: { ...process.env, [passwordVariable]: password },
        // The container stays when its client is killed: it is the cleanup that ends it.
        signal: "KILL",
        cleanup: ["docker", "rm", "--force", "--volumes", name]
      })
    }
    return yield* startOnFreePort({
      origin: `docker, ${image}`,
      url: url(password),
      start,
      version,
      limit: "5 minutes"
    })
  })
