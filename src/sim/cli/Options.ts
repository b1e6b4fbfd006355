import { Schema } from "effect"
import { keyOrders } from "../../keys/KeyMinter.ts"
import { poolKinds } from "../../storage/keys/KeyPool.ts"
import { stockKinds } from "../../storage/keys/KeyStock.ts"

/** A probability of each single occasion. */
const Probability = Schema.Number.pipe(Schema.between(0, 1))

const Positive = Schema.Number.pipe(Schema.positive())

const Count = Schema.Int.pipe(Schema.nonNegative())

/** How many of something a deployment has. */
const Size = Schema.Int.pipe(Schema.between(1, 64))

const Keys = Schema.Int.pipe(Schema.between(1, 100_000))

/** Virtual seconds. */
const Duration_s = Positive.pipe(Schema.lessThanOrEqualTo(3_600))

/** A fault that comes at random moments: how often in a minute on average, and how long it lasts, in milliseconds. */
export const Occasional = Schema.Struct({
  perMinute: Schema.Number.pipe(Schema.between(0, 1_000)),
  least_ms: Count,
  most_ms: Count
}).pipe(Schema.filter(({ least_ms, most_ms }) => least_ms <= most_ms || "least_ms must not exceed most_ms"))
/** See {@link Occasional}. */
export type Occasional = typeof Occasional.Type

/** The fate of single calls of a store: refused before they are sent, applied with their answer lost, or not applied and not answered. */
const CallFaults = Schema.Struct({ refused: Probability, lost: Probability, ignored: Probability })

/** The same of a store, of which some operations, by their names, may fare in another way. */
const StoreCallFaults = Schema.Struct({
  ...CallFaults.fields,
  /** How likely a call that is lost or ignored has broken its connection, which its caller hears at once in place of waiting until its time is over. */
  broken: Schema.optional(Probability),
  single: Schema.optional(
    Schema.Struct({ ...CallFaults.fields, at: Schema.NonEmptyArray(Schema.NonEmptyString) })
  )
})

/** Every fault, with its probability and duration. */
export const FaultOptions = Schema.Struct({
  /** `kill -9` of a node, which is started again after the duration. */
  kill: Occasional,
  /** The same in the middle of a call of a store or of another node, before it is sent or when it was answered, and of an owner that has done what it was asked for, before it answers. */
  crashPoint: Schema.Struct({
    probability: Probability,
    least_ms: Count,
    most_ms: Count,
    /** The only calls at which it happens, such as `KeyStock.close`, `send Lease` or `answer Delete`; `null`: any. */
    at: Schema.NullOr(Schema.Array(Schema.String)),
    /** Whether the node is shut down gracefully there, in place of being killed. */
    stops: Schema.Boolean
  }),
  /** A graceful shutdown of a node (SIGTERM). */
  stop: Occasional,
  /** A node is paused (SIGSTOP, a garbage collection, a virtual machine that moves). */
  pause: Occasional,
  /** A node's wall clock jumps by up to the duration, either way. */
  clockJump: Occasional,
  cutNodes: Occasional,
  cutDatabase: Occasional,
  cutRedis: Occasional,
  databaseRestart: Occasional,
  /** The database's primary is lost, and its standby takes its place after the duration, as it was at some moment since the lag began. */
  databaseFailover: Occasional,
  /** How far behind the standby is, at most; 0: it is synchronous, and no commit is forgotten. */
  databaseLag_ms: Count,
  /** How long the old primary lives on for some of those that are connected to it, at most: they read there, and write in vain. */
  formerPrimary_ms: Count,
  /** How long new connections of some nodes lead to a standby after a failover, at most: what they find there takes no writes. */
  standbyRoutes_ms: Count,
  /** The database's clock jumps by up to the duration, either way, and stays so. */
  databaseClock: Occasional,
  /** Microseconds that the database's clock gains in a second; below 0 it loses them. */
  databaseDrift: Schema.Int.pipe(Schema.between(-20_000, 20_000)),
  /** The database's disk is full: it takes no writes. */
  databaseFull: Occasional,
  /** Its disk is slow: a commit that writes takes 0.3 s longer on average, and one statement of a hundred hangs. */
  databaseSlow: Occasional,
  /** It takes no writes, because somebody has made it read-only. */
  databaseReadOnly: Occasional,
  /** The database ends the session by which a node hears of changes, and nothing else. The node learns of it after the duration, or when it asks there next. */
  newsReset: Occasional,
  /** Answers that come late on the sessions by which nodes hear of changes, each by up to `most_ms`, and with them whatever they are told behind. */
  slowNews: Schema.Struct({ probability: Probability, most_ms: Schema.Int.pipe(Schema.between(0, 1_000)) }),
  databaseCalls: Schema.Struct({
    ...StoreCallFaults.fields,
    /** How likely the first call of an operation fails besides, in one of these ways; the second is half as likely to, and so on. So what is seldom asked fails as well. */
    first: Schema.optional(Probability)
  }),
  redisRestart: Occasional,
  /** A pool shard's primary is lost, and a replica takes over that has not seen the last operations: pushes and pops. */
  redisFailover: Occasional,
  /** A pool shard comes back without its data. */
  redisLoss: Occasional,
  /** A pool shard's Redis is full (`maxmemory`): it refuses what needs memory, such as a push, and does the rest. */
  redisFull: Occasional,
  redisCalls: StoreCallFaults,
  /** Calls of the database and of pools that arrive late there, or whose answers come late, each by up to `most_ms`: later ones overtake them at the database. */
  slowCalls: Schema.Struct({
    probability: Probability,
    /** Up to 3,000 a slow statement has come to its end before the product would give it up, as it does on PostgreSQL and not on SQLite. */
    most_ms: Schema.Int.pipe(Schema.between(0, 5_000)),
    /** Some operations, by their names, whose calls are late in another share. */
    single: Schema.optional(
      Schema.Struct({ probability: Probability, at: Schema.NonEmptyArray(Schema.NonEmptyString) })
    )
  }),
  /** Of messages to the receivers of webhooks. */
  webhookCalls: CallFaults,
  /** How far behind a Redis replica is, at most. */
  replicaLag_ms: Count,
  messages: Schema.Struct({
    /** A message to an actor, or its answer, is lost silently. */
    dropped: Probability,
    /** A message is delivered twice, as when the connection to the owner broke after it was applied. */
    repeated: Probability,
    delayed: Probability,
    delay_ms: Count,
    /** How likely the sender of one that is lost hears at once that the connection broke. */
    broken: Schema.optional(Probability)
  }),
  /** Actors move to another node, for no reason. The duration is how long the former owner continues, believing that it owns them. */
  move: Occasional,
  /** Buckets of links are moved from one database to another, where there are several. The duration is how long nobody goes on with a move whose mover has died. */
  bucketMove: Occasional,
  /** The probability that a mover of buckets is killed at any single step. */
  moverCrash: Probability,
  /** The probability that a fiber is preempted before any single step. */
  preemption: Probability
})
/** See {@link FaultOptions}. */
export type FaultOptions = typeof FaultOptions.Type

/** What clients do. */
export const WorkloadOptions = Schema.Struct({
  clients: Schema.Int.pipe(Schema.between(0, 10_000)),
  /** How long a client waits between its requests, on average. */
  think_ms: Positive,
  /** How likely a request is a create; the rest are redirects and, as `deleted` and `changed` tell, deletes and changes of the target. */
  created: Probability,
  deleted: Probability,
  changed: Probability,
  /** How likely a create asks for an alias, of few, so that several want the same one. */
  withAlias: Probability,
  /** How likely such an alias has several segments, the first of which others have; then paths that follow keys may be such aliases. */
  withLongAlias: Probability,
  /** How likely a create has an `Idempotency-Key`, with which it is repeated until its client knows what came of it. */
  withKey: Probability,
  /** How likely a create is of one of few URLs, and takes a link of it that is there already. */
  reused: Probability,
  /** How likely a create is a bulk, of few links. */
  bulk: Probability,
  /** How likely a create expires, some seconds later. */
  withExpiry: Probability,
  /** How likely a create allows so many visits and no more: few, so that they are used up. */
  withMaxVisits: Probability,
  /** How likely a create gives its link a password, which visitors who are asked for it mostly know. */
  withPassword: Probability,
  /** How likely a create chooses rules, variants or a forwarded path, or is archived. Where some do, or changes do, visitors are of several kinds, and paths follow keys in requests. */
  withChoices: Probability,
  /** How likely what is chosen is of how a link answers otherwise: from when on it leads, with what status, what it forwards, what crawlers and those who come too late are shown, and rules of all kinds. With 0 there are few kinds of visitors. */
  varied: Probability,
  /** How likely a create or a change is one that is refused, whatever is known of links; with it links may not lead into private networks. */
  refused: Probability,
  /** How likely a change is of what else is chosen of a link: of that, of its title, or, where there are any, of the visits that it allows. */
  edited: Probability,
  /** How likely a change is of when the link ends as well: some seconds later, some day, or never. Where some are, creates may say at which moment. */
  extended: Probability,
  /** How likely a request of a link asks to be shown it rather than led to its target. */
  shown: Probability,
  /** How likely a request asks for the statistics of a link, or of all of a user's links. Where some do, visitors differ in all that is counted of them. */
  statistics: Probability,
  /** How likely a request asks which links crawlers may read. */
  crawled: Probability,
  /** How likely a request lists the links. */
  listed: Probability,
  /** How likely a request begins a bulk edit, which gives all links that are in lists a title, page by page. */
  editedInBulk: Probability,
  /** How likely a create is by one of few users, by an API key, which is revoked some day; with 0 there are no users. */
  withAccount: Probability,
  /** How likely such a create says that its link existed elsewhere: when it was made there, how often it was visited, how many visits were left, or that it has ended. */
  imported: Probability,
  /** How likely a request is one of a user's browser, which signs in and out, uses its session, and changes the password; only where there are users. */
  signedIn: Probability,
  /** How likely a request of a user's browser is about webhooks. */
  withWebhooks: Probability,
  /** How likely a request of a user's browser reads the audit log. */
  audited: Probability,
  /** How likely a client's turn is one of somebody on another machine who tries texts of no link, several at once; only counted where there are users. */
  guessed: Probability,
  /** How likely a create is in one of few further domains, and a tenth as likely a redirect is asked for at a wrong one; with 0 there are none. */
  withDomain: Probability,
  /** How likely clients ask at the host of a domain that comes and goes when it does, and ask again when that must hold everywhere; with 0 there is none. */
  domainsChanged: Probability,
  /** Whether an administrator changes that domain over HTTP (1), rather than somebody in the database (0). */
  domainsAsked: Probability,
  /** How likely a redirect is of a link that this client has just created. */
  justCreated: Probability,
  /** How likely a redirect is of an alias that somebody may create yet. */
  wished: Probability,
  /** How likely a client sends many requests at once. */
  bursts: Probability,
  /** How likely others ask for a link while a client changes or deletes it, or use an API key while it is revoked, and ask some of the nodes again when that must hold everywhere. */
  followed: Probability,
  /** How likely somebody else changes a link as well, shortly after a client has begun to. */
  rivalled: Probability,
  /** How many links clients remember together, to ask for them; with few of them these are hot, and newer ones take their places. */
  remembered: Schema.Int.pipe(Schema.between(1, 10_000))
})
/** See {@link WorkloadOptions}. */
export type WorkloadOptions = typeof WorkloadOptions.Type

/** How much of the cluster is real; see `Placement`. */
export const Level = Schema.Literal("actors", "cluster")
/** See {@link Level}. */
export type Level = typeof Level.Type

const betweenThem = [
  "pause",
  "cutDatabase",
  "databaseRestart",
  "databaseFailover",
  "databaseFull",
  "databaseSlow",
  "databaseReadOnly",
  "newsReset"
] as const

const ofRedis = ["cutRedis", "redisRestart", "redisFailover", "redisLoss", "redisFull"] as const

/** A run: the size of the deployment, the workload, the faults, and the duration. */
export const SimOptions = Schema.Struct({
  /** Who places the actors: an adversary, or the production stack. */
  level: Level,
  nodes: Size,
  /** Databases that have links, of which the first is the control database. The standbys of several, if any, are synchronous. */
  databases: Schema.Int.pipe(Schema.between(1, 4)),
  /** Connections to the database that a node has at most: 20 in production. */
  connectionsMax: Size,
  pools: Size,
  /**
   * Whether the only node is a process alone, which has its only pool in its memory, in place of Redis; and over what: `sqlite`: nobody else can reach its database, so that it is told of no changes but its own, and
   * each of its calls is answered. `null`: nodes of a cluster.
   */
  alone: Schema.NullOr(Schema.Literal("sqlite", "postgres")),
  keyOrder: Schema.Literal(...keyOrders),
  keyPool: Schema.Literal(...poolKinds),
  /** How many keys each range has of the length that the deployment begins with, so that it goes on to longer ones; `null`: all that there are. */
  keysPerRange: Schema.NullOr(Keys),
  bufferCapacity: Keys,
  /** Links that a node's cache holds, and the cache of the owner of a partition. */
  redirectCacheMax: Keys,
  ownerCacheMax: Keys,
  /** How long a node redirects what it has cached while the database does not answer; 0 not at all. */
  staleRedirects_s: Schema.Number.pipe(Schema.between(0, 3_600)),
  /** How far a server is behind from which nodes read links meanwhile that they have not cached; less than nodes may be behind themselves. `null`: there is none. */
  linkReplicaLag_ms: Schema.NullOr(Schema.Int.pipe(Schema.between(0, 900))),
  poolLow: Keys,
  poolHigh: Keys,
  /** The high-water mark of nodes that are started again, as after a change of their settings, whose low one is no more than half of it. `null`: both stay. */
  poolHighLater: Schema.NullOr(Keys),
  /** How keys are stocked that are minted ahead; of a file each node has one of its own, of which it reads up to `poolHigh` keys ahead, when it has fewer than `poolLow`. */
  keyStock: Schema.Literal(...stockKinds),
  /** How many keys are stocked ahead. */
  keyStockTarget: Schema.Int.pipe(Schema.between(0, 100_000)),
  /** How long the key of a link that has ended is not bound again. */
  quarantine_s: Duration_s,
  /**
   * How long a repeat with the same `Idempotency-Key` is given the first answer, in place of 24 hours; what else is known of such creates is kept for as much shorter. `null`: as in production.
   */
  answersKept_s: Schema.NullOr(Schema.Int.pipe(Schema.between(10, 3_600))),
  /** Whether keys leave the database only when its witnesses, the pools' Redis, remember that: as in production. Without, a seed takes a fifth less. */
  witnessed: Schema.Boolean,
  /**
   * Whether most of what the database's stores are asked is asked of those of production over SQLite as well, whose answers must be equal. Only where one database has all links, until it
   * forgets something.
   */
  compared: Schema.Boolean,
  /** How long after its end a day of visits is rolled up, in place of 12 hours. `null`: as in production, so that none is within a run. */
  visitsSettle_s: Schema.NullOr(Duration_s),
  /** Of how many days before today visits are told by the hour, where days are rolled up: the hours of others are dropped. */
  visitHours_days: Schema.Int.pipe(Schema.between(0, 35)),
  /** How many links a user creates in a minute, and by one API key twice as many; `null`: any number. */
  createsPerMinute: Schema.NullOr(Schema.Int.pipe(Schema.between(1, 100_000))),
  /** How often a user's links redirect in a day, and those that one API key made half as often; `null`: without a limit. */
  redirectsPerDay: Schema.NullOr(Schema.Int.pipe(Schema.between(1, 100_000))),
  /** How often the links that one API key made redirect in a day, in place of half as often as its user's. */
  keyRedirectsPerDay: Schema.NullOr(Schema.Int.pipe(Schema.between(1, 100_000))),
  /** How many look-ups of one client may lead nowhere in a minute, where there are users; `null`: any number. */
  failedLookupsPerMinute: Schema.NullOr(Schema.Int.pipe(Schema.between(1, 100_000))),
  /** After how long without use a user's session ends, in place of 24 hours; `null`: as in production. */
  sessionIdle_s: Schema.NullOr(Duration_s),
  /** How long a node that shuts down goes on accepting connections: as long as the load balancer takes to notice, or not, so that it is refused some. */
  drainDelay_ms: Count,
  /** How long faults come, in virtual seconds. */
  faulty_s: Duration_s,
  /** How long the run goes on without faults, in virtual seconds; after 5 of them everything must work. */
  calm_s: Duration_s,
  /** How long it goes on after that without clients, in virtual seconds: nothing may wait for others to come. */
  still_s: Schema.Int.pipe(Schema.between(0, 60)),
  workload: WorkloadOptions,
  faults: FaultOptions
}).pipe(
  Schema.filter(
    ({ databases, faults }) =>
      databases === 1 ||
      faults.databaseLag_ms === 0 ||
      "several databases have no standby that lags (faults.databaseLag_ms)"
  ),
  Schema.filter(
    ({ alone, databases, faults, linkReplicaLag_ms }) =>
      linkReplicaLag_ms === null ||
      (databases === 1 && alone !== "sqlite" && faults.databaseLag_ms === 0) ||
      "links are read from a replica of one database, which forgets nothing (linkReplicaLag_ms)"
  ),
  Schema.filter(
    ({ alone, faults, nodes, pools, witnessed }) =>
      alone === null ||
      (nodes === 1 && pools === 1 && !witnessed && ofRedis.every((fault) => faults[fault].perMinute === 0)) ||
      "a process alone is the only node, has one pool, and no Redis that is a witness or fails (alone)"
  ),
  Schema.filter(
    ({ alone, databases, faults }) =>
      alone !== "sqlite" ||
      (databases === 1 &&
        faults.databaseCalls.lost + faults.databaseCalls.ignored + faults.databaseLag_ms === 0 &&
        betweenThem.every((fault) => faults[fault].perMinute === 0)) ||
      "SQLite is one database, in the process: nothing comes between them (alone)"
  )
)
/** See {@link SimOptions}. */
export type SimOptions = typeof SimOptions.Type
