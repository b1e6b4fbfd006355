// A Redis primary with a replica, and three Sentinels that watch over them, for a test's own.

import { Effect, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import type { RedisSentinelUrl } from "../../../../src/storage/redis/RedisUrl.ts"
import { administer, ownProgram, parsed } from "./Redis.ts"
import { freePorts } from "../../FreePort.ts"
import { makeRedisProcess, type RedisProcess } from "./RedisProcess.ts"
import type { Unavailable } from "../Service.ts"

/** Running servers, all on the loopback interface. They go when the scope closes or this process ends. */
export interface SentinelDeployment {
  /** What clients are given: `redis+sentinel://127.0.0.1:…,127.0.0.1:…,127.0.0.1:…/linkmint-test?db=0`. */
  readonly url: string
  /** The primary and the replica as they are at the beginning; a failover changes their parts. */
  readonly primary: RedisProcess
  readonly replica: RedisProcess
  readonly sentinels: ReadonlyArray<RedisProcess>
  /** Waits until the replica has what the primary has now. */
  readonly replicated: Effect.Effect<void>
  /**
   * Cuts the replica off for good: what the primary does from now on it forgets if it is promoted. Neither clients nor Sentinels
   * notice, except that its link is down, which after some 5 s makes it unfit for promotion.
   */
  readonly cutOff: Effect.Effect<void>
  /** Waits until a Sentinel names another server than `port` as the primary, and that one takes writes; gives its port. */
  readonly promotedAfter: (port: number) => Effect.Effect<number>
}

const group = "linkmint-test"
const quorum = 2
const downAfter_ms = 500
/** A failover that did not succeed is tried again after twice this. */
const failoverTimeout_ms = 2_000

const serverConfig = (password: string) => [
  'save ""',
  "appendonly no",
  "repl-diskless-sync-delay 0",
  "repl-ping-replica-period 1",
  // Replicas have a user of their own, so that they can be shut out alone.
  `user replica on >${password} ~* &* +psync +replconf +ping`,
  "masteruser replica",
  `masterauth ${password}`
]

const sentinelConfig = (
  primary: number,
  replica: number,
  others: ReadonlyArray<readonly [number, string]>
) => [
  `sentinel monitor ${group} 127.0.0.1 ${primary} ${quorum}`,
  `sentinel down-after-milliseconds ${group} ${downAfter_ms}`,
  `sentinel failover-timeout ${group} ${failoverTimeout_ms}`,
  // They would find each other, and the replica, by themselves, but that takes seconds.
  `sentinel known-replica ${group} 127.0.0.1 ${replica}`,
  ...others.map(([port, id]) => `sentinel known-sentinel ${group} 127.0.0.1 ${port} ${id}`)
]

const at = (port: number) => parsed(`redis://127.0.0.1:${port}`)

const info = (port: number, section: string) => administer(at(port), (redis) => redis.info(section))

/**
 * Repeats a question until the answer is right; at most for a minute: a Sentinel whose timer came 2 s late trusts nothing that it sees for half of one.
 */
const until = <A>(question: Effect.Effect<A>, isRight: (answer: A) => boolean, what: string) =>
  question.pipe(
    Effect.zipLeft(Effect.sleep("20 millis")),
    Effect.repeat({ until: isRight }),
    Effect.timeout("1 minute"),
    Effect.catchTag("TimeoutException", () => Effect.dieMessage(`${what}: not within a minute`))
  )

const offsetOf = (replication: string, field: string) =>
  Number(new RegExp(`^${field}:(\\d+)`, "m").exec(replication)?.[1] ?? -1)

/** Starts them all: in about a second the replica follows the primary, and all three Sentinels know each other. */
export const makeSentinelDeployment: Effect.Effect<SentinelDeployment, Unavailable, Scope.Scope> = Effect.gen(
  function* () {
    const program = yield* ownProgram
    const [primaryPort, replicaPort, ...sentinelPorts] = (yield* freePorts(5)) as [
      number,
      number,
      ...Array<number>
    ]
    const config = serverConfig(randomBytes(16).toString("hex"))
    const ids = sentinelPorts.map((port) => [port, randomBytes(20).toString("hex")] as const)

    const [primary, replica] = yield* Effect.all(
      [
        makeRedisProcess({ program, port: primaryPort, config }),
        makeRedisProcess({
          program,
          port: replicaPort,
          config: [...config, `replicaof 127.0.0.1 ${primaryPort}`]
        })
      ],
      { concurrency: "unbounded" }
    )
    const replication = Effect.all([info(primaryPort, "replication"), info(replicaPort, "replication")])
    const isReplicated = ([from, to]: readonly [string, string]) =>
      to.includes("master_link_status:up") &&
      offsetOf(to, "slave_repl_offset") >= offsetOf(from, "master_repl_offset")
    const replicated = Effect.asVoid(until(replication, isReplicated, "replication"))
    yield* replicated

    const sentinels = yield* Effect.forEach(
      ids,
      ([port, id]) => {
        const others = ids.filter(([other]) => other !== port)
        const own = [`sentinel myid ${id}`, ...sentinelConfig(primaryPort, replicaPort, others)]
        return makeRedisProcess({ program, port, config: own, args: ["--sentinel"] })
      },
      { concurrency: "unbounded" }
    )
    const url = `redis+sentinel://${sentinelPorts.map((port) => `127.0.0.1:${port}`).join()}/${group}?db=0`
    const seen = Effect.forEach(sentinelPorts, (port) => info(port, "sentinel"))
    const isWhole = (each: string) =>
      each.includes("sentinel_tilt:0") && /status=ok,address=[\d.:]+,slaves=1,sentinels=3/.test(each)
    const whole = until(seen, (answers) => answers.every(isWhole), "the Sentinels' view")
    yield* whole

    const { name } = parsed(url) as RedisSentinelUrl
    const named = administer(at(sentinelPorts[0]!), async (redis) => {
      const address = (await redis.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name)) as [string, string]
      return Number(address[1])
    })
    return {
      url,
      primary,
      replica,
      sentinels,
      replicated,
      // They are to act within the 5 s.
      cutOff: whole.pipe(
        Effect.zipRight(
          administer(at(primaryPort), async (redis) => {
            await redis.call("ACL", "SETUSER", "replica", "off")
            await redis.call("CLIENT", "KILL", "USER", "replica")
          })
        ),
        Effect.zipRight(
          until(info(replicaPort, "replication"), (it) => it.includes("master_link_status:down"), "the cut")
        ),
        Effect.asVoid
      ),
      promotedAfter: (port) =>
        until(named, (now) => now !== port, "the failover").pipe(
          Effect.tap((now) =>
            until(info(now, "replication"), (it) => it.includes("role:master"), "the promotion")
          )
        )
    }
  }
)
