import { Either } from "effect"
import { EventEmitter } from "node:events"
import { type Redis, type RedisOptions, ReplyError } from "ioredis"
import type { Connect } from "../../storage/redis/RedisClient.ts"
import { Soon } from "../world/Soon.ts"
import { ms_us } from "../world/Time.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import { unansweredInTime } from "../world/VirtualServer.ts"
import { RedisRefusal, type Reply } from "./RedisData.ts"
import type { Command, VirtualRedis } from "./VirtualRedis.ts"

/** What each command is to those who ask for crash points and look at traces. */
const operations: Readonly<Record<string, string>> = {
  linkmintClaim: "KeyPool.claim",
  linkmintPush: "KeyPool.push",
  linkmintGiveBack: "KeyPool.giveBack",
  lrange: "KeyPool.known",
  lpop: "KeyPool.lease",
  spop: "KeyPool.lease",
  llen: "KeyPool.level",
  scard: "KeyPool.level",
  hgetall: "Witness.read",
  linkmintWitness: "Witness.raise",
  exec: "Witness.adopt"
}

const notWriteable = () => new Error("Stream isn't writeable and enableOfflineQueue options is false")
const closed = () => new Error("Connection is closed.")

/** Commands that are sent as one, when `exec` is called. */
class Several {
  readonly #commands: Array<Command> = []
  readonly #send: (commands: ReadonlyArray<Command>) => Soon<ReadonlyArray<Reply>>

  constructor(send: (commands: ReadonlyArray<Command>) => Soon<ReadonlyArray<Reply>>) {
    this.#send = send
  }

  readonly hset = (...args: Command["args"]) => this.#add("hset", args)
  readonly hdel = (...args: Command["args"]) => this.#add("hdel", args)
  readonly exec = (): Soon<ReadonlyArray<Reply>> => this.#send(this.#commands)

  #add(name: string, args: Command["args"]): this {
    this.#commands.push({ name, args })
    return this
  }
}

/**
 * What `RedisClient` uses of ioredis 5, on a process's virtual connection to one Redis, by the options that it is given: how long a connection and a reply are waited for, whether it connects again by itself
 * (`retryStrategy`), and whether commands wait for a connection (`enableOfflineQueue`). Commands that had no reply when the connection was lost are not sent again.
 */
class RedisConnection extends EventEmitter {
  status: "wait" | "connecting" | "ready" | "disconnecting" | "reconnecting" | "end" = "wait"
  readonly #redis: VirtualRedis
  readonly #process: VirtualProcess
  readonly #options: RedisOptions
  /** What gives up the commands that are sent and not answered. */
  readonly #sent = new Map<Soon<ReadonlyArray<Reply>>, () => void>()
  readonly #offline: Array<() => void> = []
  #forget = () => {}
  /** Which connection this is, or would be: what is heard of an earlier one means nothing any more. */
  #number = 0
  #failures = 0
  /** The connection on which a command was not answered in time. */
  #silent = 0
  /** Whether it is not to connect again by itself. */
  #isClosing = false
  #connected = new Soon<void>()

  constructor(redis: VirtualRedis, process: VirtualProcess, options: RedisOptions) {
    super()
    this.#redis = redis
    this.#process = process
    this.#options = options
    process.whenDead(() => this.#forget())
    for (const [name, script] of Object.entries(options.scripts ?? {}))
      Reflect.set(this, name, (...args: Command["args"]) =>
        this.#one({ name, args, script: { lua: script.lua, names: script.numberOfKeys ?? 0 } })
      )
  }

  readonly lrange = (...args: Command["args"]) => this.#one({ name: "lrange", args })
  readonly lpop = (...args: Command["args"]) => this.#one({ name: "lpop", args })
  readonly spop = (...args: Command["args"]) => this.#one({ name: "spop", args })
  readonly llen = (...args: Command["args"]) => this.#one({ name: "llen", args })
  readonly scard = (...args: Command["args"]) => this.#one({ name: "scard", args })
  readonly hgetall = (...args: Command["args"]) =>
    this.#one({ name: "hgetall", args }).then((reply) => {
      const flat = reply as ReadonlyArray<string>
      return Object.fromEntries(
        flat.flatMap((field, at) => (at % 2 === 0 ? [[field, flat[at + 1]!] as const] : []))
      )
    })
  readonly multi = () => new Several((commands) => this.#command("exec", commands))

  connect(): Soon<void> {
    if (this.status !== "wait" && this.status !== "end") {
      const refused = new Soon<void>()
      refused.settle({ error: new Error("Redis is already connecting/connected") })
      return refused
    }
    this.#connected = new Soon()
    this.#isClosing = false
    this.#open()
    return this.#connected
  }

  disconnect(again = false) {
    if (again && this.#redis.isKeptSilent) return
    this.#isClosing = !again
    if (this.status === "wait" || this.status === "reconnecting") return this.#ended()
    this.#lose(this.#number, "disconnecting")
  }

  #one(command: Command): Soon<Reply> {
    return this.#command(command.name, [command]).then(([reply]) => reply!)
  }

  #command(name: string, commands: ReadonlyArray<Command>): Soon<ReadonlyArray<Reply>> {
    const answer = new Soon<ReadonlyArray<Reply>>()
    if (this.status === "ready") this.#send(operations[name] ?? name, commands, answer)
    else if (this.#options.enableOfflineQueue === false) answer.settle({ error: notWriteable() })
    else this.#offline.push(() => this.#send(operations[name] ?? name, commands, answer))
    return answer
  }

  #send(operation: string, commands: ReadonlyArray<Command>, answer: Soon<ReadonlyArray<Reply>>) {
    const number = this.#number
    if (number === this.#silent) this.#redis.sentBehind(this.#process.id, operation)
    const apply = (): { readonly value: ReadonlyArray<Reply> } | { readonly error: Error } => {
      try {
        return { value: this.#redis.run(this.#process.id, commands) }
      } catch (error) {
        if (error instanceof RedisRefusal) return { error: new ReplyError(error.message) }
        throw error
      }
    }
    const leave = this.#redis.server.send(
      this.#process,
      operation,
      apply,
      this.#options.commandTimeout ?? Infinity,
      (replied) => {
        this.#sent.delete(answer)
        if (Either.isRight(replied)) return answer.settle(replied.right)
        const { applied, reason } = replied.left
        if (reason === unansweredInTime) {
          this.#silent = number
          return answer.settle({ error: new Error("Command timed out") })
        }
        answer.settle({ error: applied === "no" ? notWriteable() : closed() })
        this.#lose(number, "end", "read ECONNRESET")
      }
    )
    this.#sent.set(answer, leave)
  }

  #open() {
    const { server } = this.#redis
    const { name, network, world } = server
    const process = this.#process
    const number = ++this.#number
    this.status = "connecting"
    const done = (problem?: string) => {
      if (number !== this.#number || this.status !== "connecting") return
      timer.isCancelled = true
      if (problem !== undefined) return this.#lose(number, "end", problem)
      this.status = "ready"
      this.#failures = 0
      this.#forget = this.#redis.open(() =>
        network.deliver(name, process.name, () =>
          process.post(() => this.#lose(number, "end", "read ECONNRESET"))
        )
      )
      this.#connected.settle({ value: undefined })
      this.#offline.splice(0).forEach((send) => send())
    }
    const timer = world.after((this.#options.connectTimeout ?? 10_000) * ms_us, process, () =>
      process.post(() => done("connect ETIMEDOUT"))
    )
    network.deliver(process.name, name, () => {
      const problem = server.isUp ? undefined : "connect ECONNREFUSED"
      network.deliver(name, process.name, () => process.post(() => done(problem)))
    })
  }

  /** Gives the connection up: it was lost, or could not be made. */
  #lose(number: number, then: "disconnecting" | "end", problem?: string) {
    if (number !== this.#number || this.status === "disconnecting" || this.status === "end") return
    this.status = "disconnecting"
    this.#forget()
    const { server } = this.#redis
    server.world.tell(this.#process.id, "Redis lost", `${server.name}: ${problem ?? "disconnected"}`)
    if (problem !== undefined && this.listenerCount("error") > 0) this.emit("error", new Error(problem))
    if (then === "end") return this.#ended()
    server.world.after(0, this.#process, () => this.#process.post(() => this.#ended()))
  }

  #ended() {
    this.#number++
    for (const [answer, leave] of Array.from(this.#sent)) {
      leave()
      answer.settle({ error: closed() })
    }
    this.#sent.clear()
    const pause_ms = this.#isClosing ? null : this.#options.retryStrategy?.(++this.#failures)
    if (typeof pause_ms === "number") {
      this.status = "reconnecting"
      const number = this.#number
      return void this.#redis.server.world.after(pause_ms * ms_us, this.#process, () =>
        this.#process.post(() => {
          if (number === this.#number && this.status === "reconnecting") this.#open()
        })
      )
    }
    this.status = "end"
    this.#connected.settle({ error: closed() })
    this.emit("end")
  }
}

/** Connects a process to the servers of which each URL names one as its host. */
export const connecting =
  (servers: ReadonlyArray<VirtualRedis>, process: VirtualProcess): Connect =>
  (options) => {
    const redis = servers.find(({ server }) => server.name === options.host)
    if (redis === undefined) throw new Error(`there is no server ${options.host}`)
    return new RedisConnection(redis, process, options) as unknown as Redis
  }
