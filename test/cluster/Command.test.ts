import { expect, it } from "@effect/vitest"
import { Effect, Either, type Scope } from "effect"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { isDeepStrictEqual, promisify } from "node:util"
import { describe } from "vitest"
import { type Arguments, parse } from "../../cluster/Arguments.ts"
import { type Member, type Running, programs } from "../../cluster/Cluster.ts"
import * as Patroni from "../../cluster/Patroni.ts"
import { report } from "../../cluster/Report.ts"
import { inRepository } from "../../cluster/Repository.ts"
import { timed } from "../support/Lateness.ts"
import { describeWith, until } from "./Balanced.ts"

const defaults: Arguments = {
  nodes: 3,
  httpNodes: 0,
  pools: 4,
  dir: null,
  port: 8080,
  sentinel: false,
  standby: null,
  restart: false,
  json: false
}

/** What a line prints that somebody gives to the shell of a terminal in the repository, which has no settings. */
const ranByShell = (line: string) =>
  Effect.promise(async () => {
    const { HOME, PATH } = process.env
    const options = { cwd: inRepository("."), env: { HOME, PATH } }
    return (await promisify(execFile)("/bin/sh", ["-c", line], options)).stdout
  })

describe("the arguments of npm run cluster", () => {
  it("have defaults", () => {
    expect(parse([], "/home")).toEqual(Either.right(defaults))
  })

  it("are understood in both spellings, with folders from where the caller stands", () => {
    const all = ["--nodes=5", "--http-nodes", "2", "--pools", "1", "--dir", "data/x", "--port", "0"]
    const flags = ["--sentinel", "--standby", "sync", "--restart", "--json"]
    expect(parse([...all, ...flags], "/home")).toEqual(
      Either.right({
        nodes: 5,
        httpNodes: 2,
        pools: 1,
        dir: "/home/data/x",
        port: 0,
        sentinel: true,
        standby: "sync",
        restart: true,
        json: true
      })
    )
    expect(parse(["--help", "--nodes", "x"], "/home")).toEqual(Either.right("help"))
  })

  it("are told what is wrong with them", () => {
    const faults = [
      ["--nodes", "0"],
      ["--pools", "1.5"],
      ["--port", "65536"],
      ["--standby", "quick"],
      ["--node", "3"],
      ["3"],
      ["--dir"]
    ]
    const fault = (args: ReadonlyArray<string>) => Either.getOrThrow(Either.flip(parse(args, "/home")))
    expect(faults.map(fault)).toEqual([
      '--nodes must be a whole number from 1 to 16, not "0"',
      '--pools must be a whole number from 1 to 16, not "1.5"',
      '--port must be a whole number from 0 to 65535, not "65536"',
      '--standby must be sync or async, not "quick"',
      "Unknown option '--node'",
      "Unexpected argument '3'",
      expect.stringContaining("'--dir <value>' argument missing")
    ])
  })
})

interface Started {
  readonly child: ChildProcess
  readonly cluster: Running
  /** What it said on standard error so far. */
  readonly said: () => string
}

// vitest, which gives the tests' own process a BASE_URL, is nothing that a cluster should know of.
const { BASE_URL: _, ...environment } = process.env

/** Runs the command as a person would, and waits until it says that all is up. What the test leaves is killed. */
const started = (
  args: ReadonlyArray<string>,
  settings: NodeJS.ProcessEnv = {}
): Effect.Effect<Started, never, Scope.Scope> =>
  Effect.gen(function* () {
    let said = ""
    let printed = ""
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn("npm", ["run", "--silent", "cluster", "--", "--port", "0", "--json", ...args], {
          cwd: inRepository("."),
          env: { ...environment, ...settings },
          stdio: ["ignore", "pipe", "pipe"]
        })
      ),
      (running) => Effect.sync(() => running.kill("SIGTERM"))
    )
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk
    })
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk
    })
    const isOver = () => child.exitCode !== null || child.signalCode !== null
    yield* until(Effect.sync(() => printed.includes("\n") || isOver()))
    if (isOver()) return yield* Effect.dieMessage(`The cluster did not come up: ${said}`)
    return { child, cluster: JSON.parse(printed) as Running, said: () => said }
  })

const members = ({
  failover,
  loadBalancer,
  nodes,
  postgres,
  redis,
  sentinels
}: Running): ReadonlyArray<Member> => [loadBalancer, postgres, ...failover, ...nodes, ...redis, ...sentinels]

/** Names of the PostgreSQL servers that Patroni knows in a role, such as `primary` and `synchronous` (of a standby that may take the primary's place). */
const serversAs = async ({ failover, folder }: Running, role: "primary" | "synchronous") => {
  const { ports } = JSON.parse(readFileSync(join(folder, "cluster.json"), "utf8")) as {
    readonly ports: Readonly<Record<string, number>>
  }
  const found = await Promise.all(
    failover
      .map(({ name }) => name)
      .filter((name) => name !== "etcd")
      .map(async (name) => {
        const url = `http://127.0.0.1:${ports[`${name}-patroni`]}/${role}`
        // One that does not answer now has no role now.
        const status = await fetch(url).then(
          (response) => response.status,
          () => 0
        )
        return status === 200 ? [name] : []
      })
  )
  return found.flat()
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const create = ({ adminKey, loadBalancer }: Running, idempotencyKey?: string) =>
  Effect.promise(() =>
    fetch(`${loadBalancer.url}/api/v1/links`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-api-key": adminKey,
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey })
      },
      body: '{"url":"https://example.com/"}'
    })
  )

const created = (cluster: Running) =>
  Effect.gen(function* () {
    const response = yield* create(cluster)
    const body = yield* Effect.promise(() => response.text())
    expect(response.status, body).toBe(201)
    return JSON.parse(body) as { readonly key: string }
  })

/** How many keys each pool shard has, as the metrics tell. */
const poolLevels = ({ adminKey, nodes }: Running) =>
  Effect.promise(async () => {
    const response = await fetch(`${nodes[0]!.url}/metrics`, { headers: { "x-api-key": adminKey } })
    return [...(await response.text()).matchAll(/^linkmint_pool_keys\{.*\} (\d+)$/gm)].map(([, level]) =>
      Number(level)
    )
  })

const redirect = ({ loadBalancer }: Running, key: string) =>
  Effect.map(
    Effect.promise(() => fetch(`${loadBalancer.url}/${key}`, { redirect: "manual" })),
    ({ status }) => status
  )

/** As by Ctrl-C: from the terminal, and passed on by npm. */
const stop = ({ child, cluster }: Started) =>
  Effect.promise(async () => {
    const ended = once(child, "exit")
    process.kill(cluster.pid, "SIGINT")
    await setTimeout(5)
    process.kill(cluster.pid, "SIGINT")
    return ended
  })

const slow = { timeout: 240_000 }

await describeWith(Effect.zip(programs, Patroni.havePrograms), "npm run cluster", {}, () => {
  it.scopedLive(
    "serves links through HAProxy, goes on when a node is killed, goes on with its folder's data after kill -9, and leaves no process when it is stopped",
    () =>
      Effect.gen(function* () {
        const parent = yield* Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "linkmint-kept-"))),
          (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
        )
        // PostgreSQL may run as another user.
        chmodSync(parent, 0o711)
        const dir = join(parent, "data")
        const kept = ["--pools", "2", "--dir", dir]
        const running = yield* started([...kept, "--nodes", "3", "--http-nodes", "1"])
        const { cluster } = running
        expect(cluster.nodes.map(({ name, role }) => `${name} ${role}`)).toEqual([
          "node-1 all",
          "node-2 all",
          "node-3 all",
          "http-1 http"
        ])
        expect(cluster.redis).toHaveLength(2)
        expect(members(cluster).every(({ pid }) => isAlive(pid))).toBe(true)
        const { key } = yield* created(cluster)
        const { adminEmail: email, adminPassword: password } = cluster
        const session = yield* Effect.promise(() =>
          fetch(`${cluster.loadBalancer.url}/api/v1/session`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ email, password })
          })
        )
        expect(session.status).toBe(204)
        // As one copies it from what is printed.
        const [, line] = /^ {2}(DATABASE_URL=.* set-password .*)$/m.exec(
          report(cluster, { keepsData: false, restarts: false })
        )!
        const told = yield* ranByShell(line!)
        expect(told).toMatch(/has a new password, .* shown this once: \S+$/m)
        // Though nobody has leased from some of them.
        yield* until(Effect.map(poolLevels(cluster), (levels) => levels.length === 2 && !levels.includes(0)))

        process.kill(cluster.nodes[0]!.pid, "SIGKILL")
        // No request is lost: those that meet the dead node go to another.
        const statuses = yield* Effect.forEach(Array(200).keys(), () => redirect(cluster, key))
        expect(new Set(statuses)).toEqual(new Set([302]))
        const death = `node-1 (pid ${cluster.nodes[0]!.pid}) was killed by SIGKILL`
        yield* until(Effect.sync(() => running.said().includes(death)))
        // What the dead node owned is owned again within seconds; then every create succeeds, whichever node carries it out.
        const all = Effect.forEach(Array.from({ length: 8 }), () => create(cluster))
        const [recovery] = yield* timed(
          until(Effect.map(all, (answers) => answers.every(({ status }) => status === 201)))
        )
        expect(recovery).toBeLessThan(20_000)
        const { key: later } = yield* created(cluster)
        expect(yield* redirect(cluster, later)).toBe(302)

        process.kill(cluster.pid, "SIGKILL")
        yield* until(Effect.sync(() => !members(cluster).some(({ pid }) => isAlive(pid))))

        const second = yield* started([...kept, "--nodes", "1", "--restart"])
        expect(second.cluster.adminKey).toBe(cluster.adminKey)
        expect(yield* redirect(second.cluster, key)).toBe(302)
        process.kill(second.cluster.nodes[0]!.pid, "SIGKILL")
        yield* until(Effect.sync(() => second.said().includes("node-1 is up again")))
        // HAProxy looks for itself, twice a second.
        yield* until(Effect.map(redirect(second.cluster, key), (status) => status === 302))
        expect(yield* stop(second)).toEqual([0, null])
        expect(members(second.cluster).filter(({ pid }) => isAlive(pid))).toEqual([])
        expect(second.said().trim().split("\n").at(-1)).toBe("The cluster has stopped.")
        // The node was left to write what it had counted, while PostgreSQL was there.
        const log = readFileSync(second.cluster.nodes[0]!.log, "utf8")
        expect(log).toMatch(/^Linkmint has stopped\.\n$/m)
        expect(log).not.toContain("could not be written")
        expect(readFileSync(join(dir, "cluster.json"), "utf8")).toContain(second.cluster.adminKey)
      }),
    slow
  )

  it.scopedLive(
    "puts a replica in a dead primary's place, where Sentinels and Patroni watch, and leaves nothing after kill -9",
    () =>
      Effect.gen(function* () {
        const running = yield* started(["--nodes", "1", "--pools", "1", "--sentinel", "--standby", "sync"], {
          BUFFER_CAPACITY: "64"
        })
        const { cluster } = running
        expect(cluster.sentinels).toHaveLength(3)
        yield* created(cluster)
        process.kill(cluster.redis.find(({ name }) => name === "redis-1")!.pid, "SIGKILL")
        const sentinelLog = () => readFileSync(cluster.sentinels[0]!.log, "utf8")
        const [failover] = yield* timed(
          until(Effect.sync(() => sentinelLog().includes("+switch-master pool-1")))
        )
        expect(failover).toBeLessThan(15_000)
        // More than the node has in its own buffer: these keys come from the new primary, when the node has found it.
        const fifty = Effect.forEach(
          Array.from({ length: 50 }),
          () => Effect.map(create(cluster), ({ status }) => Number(status === 201)),
          { concurrency: 8 }
        )
        let all = 0
        yield* until(
          Effect.map(fifty, (made) => {
            const count = made.reduce((sum, one) => sum + one, 0)
            all += count
            return count === 50 && all >= 150
          })
        )

        const { key } = yield* created(cluster)
        // Before the standby is synchronous Patroni can only bring the dead primary back.
        yield* until(Effect.promise(async () => (await serversAs(cluster, "synchronous")).length === 1))
        const [primary] = yield* Effect.promise(() => serversAs(cluster, "primary"))
        const [standby] = yield* Effect.promise(() => serversAs(cluster, "synchronous"))
        const standbyPid = Patroni.postmasterOf(cluster.folder, standby!)
        process.kill(Patroni.postmasterOf(cluster.folder, primary!), "SIGKILL")
        // A session of the dead one may answer a last create before it sees that its server is gone. Of the dead one nothing is read: its Patroni recovers it meanwhile, or makes its data again.
        yield* until(
          Effect.promise(async () => isDeepStrictEqual(await serversAs(cluster, "primary"), [standby]))
        )
        yield* until(Effect.map(create(cluster), ({ status }) => status === 201))
        expect(Patroni.postmasterOf(cluster.folder, standby!)).toBe(standbyPid)
        expect(yield* redirect(cluster, key)).toBe(302)

        process.kill(cluster.pid, "SIGKILL")
        const isLeft = () =>
          isAlive(standbyPid) ||
          members(cluster).some(({ pid }) => isAlive(pid)) ||
          existsSync(cluster.folder)
        yield* until(Effect.sync(() => !isLeft()))
      }),
    slow
  )
})
