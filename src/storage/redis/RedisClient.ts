import { Context, Deferred, Duration, Effect, Redacted, Schedule, type Scope } from "effect"
import { Redis, type RedisOptions, ReplyError } from "ioredis"
import { label, type RedisUrl } from "./RedisUrl.ts"
import { StorageError } from "../StorageError.ts"

/**
 * A connection to one Redis. When it is lost, it is reconnected, first after 50 ms and then about every half
 * second, until the scope closes.
 */
export interface RedisClient {
  /**
   * Sends a command, or several that are pipelined, and gives the reply. It takes about a second at most, is never sent twice, and fails
   * at once while there is no connection.
   */
  readonly send: <A>(
    operation: string,
    command: (redis: Redis) => Promise<A>
  ) => Effect.Effect<A, StorageError>
}

/** How long a reply, and a connection, is waited for. */
const replyWaitMax = Duration.seconds(1)
const connectWaitMax = Duration.seconds(1)
/** How long a connection that is being closed may take to send its buffer. */
const closeWaitMax = Duration.millis(100)
/** How long starting waits for the first connection. */
const startWaitMax = Duration.seconds(2)

/** What the reason of an error says where nothing was sent. */
export const noConnection = "no connection"

/** The pauses between attempts to reconnect: they grow from the first to the second. */
const pauseMin = Duration.millis(50)
const pauseMax = Duration.millis(500)

const backoff = Schedule.exponential(pauseMin).pipe(
  Schedule.union(Schedule.spaced(pauseMax)),
  Schedule.jittered
)

/** Lua scripts by the names of the methods that call them; the number of keys comes before their other arguments. */
export type Scripts = NonNullable<RedisOptions["scripts"]>

const credentialsOf = ({ credentials }: RedisUrl) =>
  credentials === null
    ? {}
    : {
        password: Redacted.value(credentials.password),
        ...(credentials.username !== null && { username: credentials.username })
      }

const whereOf = (url: RedisUrl): RedisOptions => {
  if (url._tag === "Server") return { ...url.address, ...(url.tls && { tls: {} }) }
  const { name, sentinelCredentials: own, sentinels } = url
  return {
    sentinels: [...sentinels],
    name,
    ...(own !== null && { sentinelPassword: Redacted.value(own.password) }),
    ...(own !== null && own.username !== null && { sentinelUsername: own.username }),
    sentinelCommandTimeout: Duration.toMillis(replyWaitMax),
    // Only those of the URL: the addresses of others may not be reachable from here.
    updateSentinels: false,
    // Reconnecting, below, asks again.
    sentinelRetryStrategy: () => null
  }
}

/**
 * ioredis's own reconnecting is switched off. It would queue commands or repeat those without a
 * reply, and a repeated `LPOP` pops twice; and it stops reconnecting when a connection is closed while the Sentinels are asked.
 */
const optionsOf = (url: RedisUrl, scripts: Scripts): RedisOptions => ({
  ...whereOf(url),
  ...credentialsOf(url),
  db: url.database,
  scripts,
  lazyConnect: true,
  retryStrategy: () => null,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  commandTimeout: Duration.toMillis(replyWaitMax),
  connectTimeout: Duration.toMillis(connectWaitMax),
  disconnectTimeout: Duration.toMillis(closeWaitMax),
  maxLoadingRetryTime: 200,
  connectionName: "linkmint",
  disableClientInfo: true
})

/** Makes a client that is not connected yet. */
export type Connect = (options: RedisOptions) => Redis

/** How clients are made: by ioredis. */
export class Connecting extends Context.Reference<Connecting>()("linkmint/RedisConnecting", {
  defaultValue: (): Connect => (options) => new Redis(options)
}) {}

const timedOut = "Command timed out"
const notSent = "Stream isn't writeable"

/** The message of an error. Not the error itself: it has the command, whose arguments may be a password. */
const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message || String(Reflect.get(error, "code")) : String(error)

/** Completes when the connection is closed. */
const untilEnded = (redis: Redis) =>
  Effect.async<void>((resume) => {
    const end = () => resume(Effect.void)
    if (redis.status === "end") return end()
    redis.once("end", end)
    return Effect.sync(() => redis.off("end", end))
  })

const close = (redis: Redis) =>
  Effect.suspend(() => {
    const { status } = redis
    redis.disconnect()
    return status === "wait" || status === "end" ? Effect.void : untilEnded(redis)
  }).pipe(Effect.interruptible, Effect.timeout(replyWaitMax), Effect.ignore)

const noPrimary = "All sentinels are unreachable"

/** Watches one connection: what went wrong since the last attempt to connect began. */
const watch = (redis: Redis) => {
  let trouble: string | undefined
  let isRefused = false
  let sentinel = "no answer"

  const giveUp = (why: string) => {
    trouble = why
    redis.disconnect(true)
  }
  redis.on("sentinelError", (error: Error) => {
    sentinel = messageOf(error)
  })
  redis.on("error", (error: Error & { readonly command?: { readonly name: string } }) => {
    // Errors after a refusal are its consequences.
    if (isRefused) return
    const message = messageOf(error)
    trouble = message.startsWith(noPrimary) ? `no Sentinel names a primary: ${sentinel}` : message
    // The database does not exist: ioredis would go on with database 0.
    isRefused = error.command?.name === "select"
    if (isRefused) giveUp(message)
  })

  return {
    connect: Effect.suspend(() => {
      if (redis.status === "ready") return Effect.void
      trouble = undefined
      isRefused = false
      return Effect.tryPromise({ try: () => redis.connect(), catch: messageOf })
    }).pipe(
      Effect.filterOrFail(
        () => !isRefused,
        () => "the database was refused"
      ),
      Effect.mapError((otherwise) => trouble ?? otherwise)
    ),
    /** Completes when the connection is lost, with the reason. */
    lost: Effect.map(untilEnded(redis), () => trouble ?? "the connection was lost"),
    /** Closes the connection where a command's error says that it is of no use any more. */
    handle: (error: unknown): never => {
      const message = messageOf(error)
      // Later commands would wait behind it, and run when nobody waits for them any more.
      if (message === timedOut) giveUp("the server does not answer")
      // The primary is another server now.
      if (message.startsWith("READONLY")) giveUp("the server is a replica")
      throw error
    }
  }
}

/** Logs each problem once, and its end. */
const makeReport = (name: string) => {
  let reported: string | undefined
  return (problem: string | undefined) =>
    Effect.suspend(() => {
      if (problem === reported) return Effect.void
      reported = problem
      return problem === undefined
        ? Effect.logInfo(`Connected to ${name}`)
        : Effect.logWarning(`No connection to ${name}: ${problem}`)
    })
}

/**
 * Connects, and waits up to 2 s for the first connection; after that it goes on trying.
 * It logs when the connection is lost and when it is back.
 */
export const make = Effect.fn("RedisClient.make")(function* (
  url: RedisUrl,
  scripts: Scripts
): Effect.fn.Return<RedisClient, never, Scope.Scope> {
  const name = label(url)
  const make = yield* Connecting
  const redis = yield* Effect.acquireRelease(
    Effect.sync(() => make(optionsOf(url, scripts))),
    close
  )
  const { connect, handle, lost } = watch(redis)
  const report = makeReport(name)
  let reason = "not connected yet"
  const away = (problem: string) => {
    reason = problem
    return report(problem)
  }

  const tried = yield* Deferred.make<void>()
  const attempt = connect.pipe(
    Effect.tapBoth({ onFailure: away, onSuccess: () => report(undefined) }),
    Effect.ensuring(Deferred.succeed(tried, undefined))
  )
  const stayConnected = Effect.retry(attempt, backoff).pipe(
    Effect.zipRight(lost),
    Effect.flatMap(away),
    Effect.zipRight(Effect.sleep(pauseMin)),
    Effect.forever
  )
  // Interruptible also where the caller is not, as in a finalizer.
  yield* Effect.forkScoped(Effect.interruptible(stayConnected))
  yield* Effect.timeoutOption(Effect.interruptible(Deferred.await(tried)), startWaitMax)

  const failureOf = (operation: string, error: unknown) => {
    const message = messageOf(error)
    const applied = error instanceof ReplyError || message.startsWith(notSent) ? "no" : "unknown"
    return new StorageError({ operation, applied, reason: `${name}: ${message}` })
  }

  return {
    send: (operation, command) =>
      Effect.suspend(() =>
        redis.status === "ready"
          ? Effect.tryPromise({
              try: () => command(redis).catch(handle),
              catch: (error) => failureOf(operation, error)
            })
          : new StorageError({ operation, applied: "no", reason: `${name}: ${noConnection} (${reason})` })
      )
  }
})
