import type { Checker, Evidence, Violation } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { plainKeyOf, qualifiedKey } from "../../../keys/QualifiedKey.ts"
import { answerMax_us } from "../../deployment/VirtualNode.ts"
import { domainNumbers } from "../../deployment/FurtherDomains.ts"
import type { JournalEntry } from "../../Journal.ts"
import { ms_us, s_us } from "../../world/Time.ts"

/** What became of the keys that are lost, by the last that is known of each. */
export interface Losses {
  /** Minted, and never recorded: the refill was given up. */
  readonly refills: number
  /** Read ahead from the file of a node that died. */
  readonly preloaded: number
  /** In a pool shard that lost them. */
  readonly pools: number
  /** Leased all together, and not one of them was seen again: the lease's answer was lost, or came to nobody. */
  readonly leases: number
  /** Leased, and held by a node that was killed, or taken for a create or a return whose outcome is unknown. */
  readonly held: number
}

/** Tags of the entries that tell which keys a node had. */
const holding: ReadonlySet<string> = new Set(["handed", "refused", "unsure", "unreceived", "unreturned"])

const isHeld = ({ tag }: JournalEntry) => holding.has(tag)

type LostKeys = ReadonlyArray<readonly [key: string, entry: JournalEntry]>

/** What was found for evidence that is looked at several times. */
const found = new WeakMap<Evidence, LostKeys>()

/** The keys that are not accounted for, and where each was last seen. */
const lostKeys = (evidence: Evidence): LostKeys => {
  const known = found.get(evidence)
  if (known !== undefined) return known
  const lost = findLost(evidence)
  found.set(evidence, lost)
  return lost
}

const findLost = ({ buffered, journal, pooled, recorded, row, stocked }: Evidence): LostKeys => {
  const isBound = (key: string) => domainNumbers.some((domain) => row(qualifiedKey({ domain, key })) !== null)
  const isThere = (key: string) =>
    pooled.has(key) || recorded.has(key) || stocked.has(key) || buffered.has(key) || isBound(key)
  const last = new Map<string, JournalEntry>()
  for (const entry of journal) {
    // Who puts a key back has had it, and what is known of it stays.
    if ("keys" in entry && entry.tag !== "put back") for (const key of entry.keys) last.set(key, entry)
    if (entry.tag === "forgot") for (const key of entry.gone) last.set(key, entry)
  }
  return Array.from(last).filter(([key]) => !isThere(key))
}

/** The entries where they were last seen: how many of each entry's. */
const lastSeen = (evidence: Evidence): ReadonlyMap<JournalEntry, number> => {
  const lost = new Map<JournalEntry, number>()
  for (const [, entry] of lostKeys(evidence)) lost.set(entry, (lost.get(entry) ?? 0) + 1)
  return lost
}

/** Processes alone that have begun to shut down: what leaves their pool for no buffer is taken out of it to be stocked. */
const emptyingIn = ({ journal, options }: Evidence): ReadonlySet<string> =>
  new Set(options.alone !== null ? journal.flatMap(({ by, tag }) => (tag === "draining" ? [by] : [])) : [])

/** Whether the database did not answer a process alone that was about to stock what was left in its pool. */
const isStockingRefused = ({ journal }: Evidence): boolean => {
  const emptying = new Set<string>()
  return journal.some((entry) => {
    if (entry.tag === "draining") emptying.add(entry.by)
    const isAsking = entry.tag === "unanswered" && emptying.has(entry.by)
    return isAsking && ["KeyStock.openBatches", "KeyStock.add"].includes(entry.operation)
  })
}

/** What became of the keys that are lost. */
export const lossesOf = (evidence: Evidence): Losses => {
  const { journal } = evidence
  const dead = new Set(journal.filter(({ tag }) => tag === "killed" || tag === "ended").map(({ by }) => by))
  const emptying = emptyingIn(evidence)
  const losses = { refills: 0, preloaded: 0, pools: 0, leases: 0, held: 0 }
  for (const [entry, count] of lastSeen(evidence)) {
    if (entry.tag === "minted") losses.refills += count
    else if (entry.tag === "preloaded") losses.preloaded += dead.has(entry.by) ? count : 0
    else if (isHeld(entry)) losses.held += count
    else if (entry.tag !== "leased" || emptying.has(entry.by)) losses.pools += count
    else if (count === entry.keys.length) losses.leases += count
    else losses.held += count
  }
  return losses
}

/** A call that is given up sooner was interrupted with its actor or its node, which loses nothing while the store answers: no time of the product's is shorter. */
const givenUpAfter_us = 500 * ms_us

/** Whether whoever made a call, or sent a message, had an error of it, or waited for long. */
const isGivenUp = ({ interrupted_us }: { readonly interrupted_us: number | undefined }) =>
  (interrupted_us ?? Infinity) >= givenUpAfter_us

/** How long before its end a process may have asked for numbers whose answer found nobody: as long as it waits for the answer. */
const lastAsked_us = 4 * s_us

/** When each process ended that ended by itself. */
const endsOf = (journal: Evidence["journal"]): ReadonlyMap<string, number> =>
  new Map(journal.flatMap((one) => (one.tag === "ended" ? [[one.by, one.at_us]] : [])))

/** Which block of a range a process has got. */
const nameOf = ({ by, first, slot }: Extract<JournalEntry, { readonly tag: "advanced" | "minted" }>) =>
  `${by} ${slot.length} ${slot.range} ${first}`

/** The blocks that became keys. */
const mintedBlocks = (journal: Evidence["journal"]): ReadonlySet<string> =>
  new Set(journal.flatMap((one) => (one.tag === "minted" ? [nameOf(one)] : [])))

/** Numbers that processes asked for when they were about to end by themselves, and made no keys of: their actors are waited for, but not for that long. */
const askedAtTheEnd = ({ journal }: Evidence): number => {
  const ended_us = endsOf(journal)
  const minted = mintedBlocks(journal)
  return journal.filter(
    (one) =>
      one.tag === "advanced" &&
      one.at_us > (ended_us.get(one.by) ?? Infinity) - lastAsked_us &&
      !minted.has(nameOf(one))
  ).length
}

/** How long a process may wait for numbers, and then for a witness, before it moves the mark. */
const unmarked_us = 6 * s_us

/** Numbers that a process had, and had not marked yet, when a standby was promoted, which may have forgotten them: they are not used. Whoever asks afterwards has no such excuse. */
const unmarkedAtPromotions = ({ journal }: Evidence): number => {
  const promoted_us = journal.flatMap(({ at_us, tag }) => (tag === "promoted" ? [at_us] : []))
  if (promoted_us.length === 0) return 0
  const minted = mintedBlocks(journal)
  /** How long a process stands still meanwhile. */
  const pausedIn = (process: string, from_us: number) =>
    journal.reduce(
      (sum, one) =>
        one.tag === "paused" &&
        one.by === process &&
        from_us <= one.at_us &&
        one.at_us < from_us + unmarked_us
          ? sum + one.for_us
          : sum,
      0
    )
  return journal.reduce((sum, one) => {
    if (one.tag !== "advanced" || one.isInVain === true || minted.has(nameOf(one))) return sum
    const until_us = one.at_us + unmarked_us + pausedIn(one.by, one.at_us)
    return promoted_us.some((at_us) => one.at_us <= at_us && at_us < until_us) ? sum + one.count : sum
  }, 0)
}

/** How long after its end keys may come that a process has asked for, where no call is slow. */
const mintedLate_us = 100 * ms_us

/** Keys that were minted when the process that had asked for them may have ended by itself: as late as slow calls are. */
const mintedAfterAnEnd = ({ journal, options }: Evidence): number => {
  const late_us = mintedLate_us + 2 * options.faults.slowCalls.most_ms * ms_us
  const ends_us = journal.flatMap((one) => (one.tag === "ended" ? [one.at_us] : []))
  return journal.filter(
    ({ at_us, tag }) =>
      tag === "minted" && ends_us.some((end_us) => end_us <= at_us && at_us < end_us + late_us)
  ).length
}

/** How long minted keys are waited for: a process that was paused for longer gives up those that have come meanwhile. */
const mintWaitMax_us = 2_000 * ms_us

/** What a node does before keys leave the database. It looks at the mark before it asks for them, or when the database had forgotten some. */
const witnessing: ReadonlySet<string> = new Set(["DatabaseMark.move", "Witness.read", "Witness.raise"])

/** The shortest time after which a lease or a create is given up, and how long after a pause everything is told that came meanwhile. */
const waitMin_us = s_us
const wakes_us = 100 * ms_us

/** How long a lease may take: of one pool shard of many, of the only one, and of any after that. When an answer comes at that very moment, its caller may have given up just before. */
const leaseWaits_us = [s_us, 3 * s_us, 11 * s_us, 13 * s_us]
const justThen_us = 10 * ms_us

/** Whether a lease came when it was about to be given up. */
const isLateLease = (entry: JournalEntry) =>
  entry.tag === "handed" && leaseWaits_us.some((wait_us) => Math.abs(entry.took_us - wait_us) < justThen_us)

/** How many times each thing happened that may lose keys. */
const causesOf = (evidence: Evidence) => {
  const { faults, journal, options } = evidence
  const kills = journal.filter(({ tag }) => tag === "killed").length
  const fenced = journal.filter(({ tag }) => tag === "fenced").length
  const withoutAnswer = (operations: ReadonlyArray<string>) =>
    journal.flatMap((entry) =>
      entry.tag === "unanswered" && operations.includes(entry.operation) && isGivenUp(entry) ? [entry] : []
    )
  /** Of what takes keys, which loses some only where it may have been done. */
  const perhapsDone = (...operations: ReadonlyArray<string>) =>
    withoutAnswer(operations).filter(({ isUnsent }) => isUnsent !== true)
  /** Of what puts keys somewhere, which loses them where it was certainly not done, too. */
  const failed = (...operations: ReadonlyArray<string>) => withoutAnswer(operations).length
  // Keys that were drawn at random are given up where it is not known whether they are bound, as where it is not known which database has them.
  const drawn = options.keyOrder === "random" ? failed("LinkStore.takenAmong", "BucketPlacement.read") : 0
  /** What stops them, be it with their actor, stops the keys that they let go; so does a witness that is full before it has stored the watermark. */
  const unwitnessed =
    journal.filter((entry) => entry.tag === "unanswered" && witnessing.has(entry.operation)).length +
    (faults.get("redisFull") ?? 0)
  return {
    kills,
    longPauses: journal.filter((one) => one.tag === "paused" && one.for_us >= mintWaitMax_us).length,
    redis: (faults.get("redisFailover") ?? 0) + (faults.get("redisLoss") ?? 0),
    /** Leases whose keys may have come to nobody. */
    leases: perhapsDone("KeyPool.lease", "send Lease").length + journal.filter(isLateLease).length,
    /** Being interrupted does not end the wait for numbers. */
    advances:
      perhapsDone("KeyRangeStore.advance").filter(({ interrupted_us }) => interrupted_us === undefined)
        .length +
      unwitnessed +
      askedAtTheEnd(evidence),
    /** Refills that may have been given up before their keys were recorded. */
    refills:
      fenced +
      drawn +
      mintedAfterAnEnd(evidence) +
      unwitnessed +
      failed("KeyStock.record", "KeyStock.take", "KeyStock.fill", "KeyFile.append", "send Mint")
  }
}

/** For how long a refill may hold minted keys that nothing has recorded yet, all its calls being slow. */
const refillMax_us = 15 * s_us

/** Minted keys that were lost though nothing happened meanwhile that a refill does not survive. */
const lostRefills = (evidence: Evidence): number => {
  const { end_us, journal } = evidence
  const ops = new Set([
    ...witnessing,
    "KeyStock.record",
    "KeyStock.take",
    "KeyStock.fill",
    "KeyFile.append",
    "LinkStore.takenAmong",
    "send Mint"
  ])
  const causes_us = journal.flatMap((entry) => {
    if (entry.tag === "paused") return [entry.at_us, entry.at_us + entry.for_us]
    const isCause =
      ["killed", "ended", "draining", "fenced"].includes(entry.tag) ||
      (entry.tag === "unanswered" && ops.has(entry.operation))
    return isCause ? [entry.at_us] : []
  })
  let lost = 0
  for (const [{ at_us, tag }, count] of lastSeen(evidence)) {
    if (tag !== "minted" || at_us + refillMax_us > end_us) continue
    const isCaused = causes_us.some(
      (cause_us) => at_us - refillMax_us < cause_us && cause_us < at_us + refillMax_us
    )
    if (!isCaused) lost += count
  }
  return lost
}

/** Minted keys that were lost, and whose owner answered who had asked for them with an error: it gives those that it has. */
const thrownAway = (evidence: Evidence): number => {
  const { journal } = evidence
  let lost = 0
  for (const [entry, count] of lastSeen(evidence)) {
    if (entry.tag !== "minted") continue
    const { at_us, by, slot } = entry
    const answer = journal.find(
      (one) => one.tag === "mint answered" && one.by === by && one.range === slot.range && one.at_us >= at_us
    )
    if (answer?.tag === "mint answered" && answer.isRefused && answer.begun_us <= at_us) lost += count
  }
  return lost
}

/** What takes keys into the memory of a process, or out of it, beside pools. Those of further databases are carried so. */
const readAhead: ReadonlySet<string> = new Set([
  "KeyStock.record",
  "KeyFile.append",
  "KeyFile.take",
  "LinkCarrier.leave",
  "LinkCarrier.arrive",
  "LinkCarrier.comeBack"
])

/** What is too much of the keys that each process has read ahead from its file: up to two refills where it was killed, one for each record or return to the file whose end it did not learn, and none where it shut down. */
const preloadedTooMuch = (
  evidence: Evidence
): ReadonlyArray<readonly [by: string, lost: number, bound: number]> => {
  const { journal, options } = evidence
  const killed = new Set<string>()
  const ended = new Set<string>()
  const unsure = new Map<string, number>()
  for (const entry of journal) {
    if (entry.tag === "killed") killed.add(entry.by)
    if (entry.tag === "ended") ended.add(entry.by)
    if (entry.tag === "unanswered" && readAhead.has(entry.operation))
      unsure.set(entry.by, (unsure.get(entry.by) ?? 0) + 1)
  }
  const lost = new Map<string, number>()
  for (const [{ by, tag }, count] of lastSeen(evidence))
    if (tag === "preloaded") lost.set(by, (lost.get(by) ?? 0) + count)
  return Array.from(lost, ([by, count]) => {
    // What a living one holds is not lost.
    const held = killed.has(by) || !ended.has(by) ? 2 * options.poolHigh : 0
    return [by, count, held + (unsure.get(by) ?? 0) * 2 * options.poolHigh] as const
  }).filter(([, count, bound]) => count > bound)
}

/** How long a create takes at least that had to go on with another key because an owner was silent. */
const silent_us = 500 * ms_us

/** Whether a create with this answer is over at the node that gave it. */
const isDefinite = (status: number) => status > 0 && status < 500

/** Whether a create may have taken a key whose fate it never learned: it failed, an owner was silent, or a node was killed meanwhile. */
const isUncertain = ({ end_us, journal }: Evidence) => {
  const kills_us = journal.filter(({ tag }) => tag === "killed").map(({ at_us }) => at_us)
  return ({ answered_us = end_us, kind, sent_us, status }: Exchange) =>
    kind === "create" &&
    (!isDefinite(status) ||
      answered_us - sent_us > silent_us ||
      kills_us.some((kill_us) => sent_us <= kill_us && kill_us <= answered_us))
}

/** Whether a create was over at the only node that had it when that answered: one that takes as long as a node works on an answer goes on without it. */
const isOver = ({ answered_us = Infinity, sent_us, status, tries }: Exchange): boolean =>
  tries <= 1 && (isDefinite(status) || (status === 503 && answered_us - sent_us < answerMax_us))

/** Keys that one create may have taken when its outcome is unknown, since nodes go on with it. */
const keysOfCreateMax = 8

/** The same of an uncertain create: where it was answered, one for each time that it was sent to a node, and each time that an owner can have been silent meanwhile. */
const keysOfCreate = ({ answered_us, sent_us, status, tries }: Exchange): number =>
  answered_us === undefined || !isDefinite(status)
    ? keysOfCreateMax
    : Math.min(keysOfCreateMax, tries + Math.floor((answered_us - sent_us) / silent_us))

const keysOfCreates = (creates: ReadonlyArray<Exchange>): number =>
  creates.reduce((sum, create) => sum + keysOfCreate(create), 0)

/** How long before the end of a process its last creates may have begun: a create goes on for some seconds when its client has gone. */
const lastCreates_us = 8 * s_us

/** Creates that may have been under way when a process alone was killed: it goes on with some whose client has gone. Each has one key then, since no owner of another process is silent. */
const openAtKills = ({ end_us, exchanges, journal }: Evidence): number => {
  const kills_us = journal.flatMap(({ at_us, tag }) => (tag === "killed" ? [at_us] : []))
  return exchanges.filter(({ answered_us = end_us, kind, sent_us, status, tries }) => {
    const isOver = status >= 200 && status < 500
    const over_us = isOver ? answered_us : answered_us + lastCreates_us
    // What no process has got takes no key.
    return (
      kind === "create" && tries > 0 && kills_us.some((kill_us) => sent_us <= kill_us && kill_us <= over_us)
    )
  }).length
}

/** The keys of creates of which nobody ever learned whether they were bound: they are not used again. A create that goes on with another key may be done in a moment. */
const neverLearned = (evidence: Evidence): number =>
  lostKeys(evidence).filter(([, { tag }]) => tag === "unsure").length

/**
 * The keys that were lost because they could not be returned to their pool: a return may have any number, since a node of several databases has keys aside beside its buffer's. Those that
 * have come there after all are none of them, nor are those that were leased again.
 */
const returnedInVain = (evidence: Evidence): number => {
  const inVain = new Set<string>()
  for (const entry of evidence.journal) {
    if (entry.tag === "leased" || entry.tag === "returned") entry.keys.forEach((key) => inVain.delete(key))
    else if (entry.tag === "unreturned" && isGivenUp(entry)) entry.keys.forEach((key) => inVain.add(key))
  }
  return lostKeys(evidence).filter(([key]) => inVain.has(key)).length
}

/** How long keys wait at most that are to be returned, for an earlier return and from one try to the next. */
const returning_us = 2_100 * ms_us

/** The keys of refused creates that nodes had no room for, and were about to return, when they were killed. No message has them yet. */
const spareWhenKilled = (evidence: Evidence): number => {
  const since_us = new Map<string, number>()
  for (const entry of evidence.journal.toReversed()) {
    const { at_us, by, tag } = entry
    if (tag === "killed") since_us.set(by, at_us - returning_us)
    const since = since_us.get(by)
    if (tag === "paused" && since !== undefined && at_us + entry.for_us > since)
      since_us.set(by, since - entry.for_us)
  }
  return lostKeys(evidence).filter(
    ([, { at_us, by, tag }]) =>
      (tag === "refused" || tag === "unreceived") && at_us > (since_us.get(by) ?? Infinity)
  ).length
}

/** The keys that pool shards lost with their data: those that refills had pushed, and those that were returned, which come on top of these in any number; or that were to be stocked when their process shut down. */
const lostWithData = (evidence: Evidence): { readonly pushed: number; readonly returned: number } => {
  const back = new Set<string>()
  for (const entry of evidence.journal) {
    if (entry.tag === "returned") entry.keys.forEach((key) => back.add(key))
    else if (entry.tag === "pushed" || entry.tag === "leased") entry.keys.forEach((key) => back.delete(key))
  }
  const emptying = emptyingIn(evidence)
  const gone = lostKeys(evidence).filter(([, { tag }]) => tag === "forgot")
  const returned = gone.filter(([key]) => back.has(key)).length
  const emptied = lostKeys(evidence).filter(([, { by, tag }]) => tag === "leased" && emptying.has(by)).length
  return { pushed: gone.length - returned, returned: returned + emptied }
}

/**
 * The keys that each process has lost though it was not killed, and though it knew of each that it was not bound: none, but for those of creates that were under way at its end.
 */
const lostByTheLiving = (
  evidence: Evidence
): ReadonlyArray<readonly [by: string, lost: number, bound: number]> => {
  const { end_us, exchanges, journal } = evidence
  const killed = new Set<string>()
  const ended_us = new Map<string, number>()
  const woken_us = new Map<string, Array<number>>()
  for (const entry of journal) {
    if (entry.tag === "killed") killed.add(entry.by)
    if (entry.tag === "ended") ended_us.set(entry.by, entry.at_us)
    if (entry.tag === "paused" && entry.for_us >= waitMin_us)
      woken_us.set(entry.by, [...(woken_us.get(entry.by) ?? []), entry.at_us + entry.for_us])
  }
  /** When it comes with the end of a pause, whoever waited for it may have given up at the same moment. */
  const isTooLate = (by: string, at_us: number) =>
    (woken_us.get(by) ?? []).some((from_us) => from_us <= at_us && at_us < from_us + wakes_us)
  const lost = new Map<string, number>()
  for (const [entry, count] of lastSeen(evidence)) {
    const { at_us, by, tag } = entry
    if (killed.has(by) || (tag !== "handed" && tag !== "refused") || isTooLate(by, at_us)) continue
    if (isLateLease(entry)) continue
    lost.set(by, (lost.get(by) ?? 0) + count)
  }
  const failed = exchanges.filter(isUncertain(evidence)).filter((one) => !isOver(one))
  /** Keys of creates that may have been under way when a process ended, or the run did. */
  const keysOfLastCreates = (by: string) => {
    const until_us = ended_us.get(by) ?? end_us
    return keysOfCreates(
      failed.filter(
        ({ answered_us = end_us, answeredBy = by, sent_us, tries }) =>
          (answeredBy === by || tries > 1) &&
          sent_us <= until_us &&
          (answered_us === end_us || answered_us > until_us - lastCreates_us)
      )
    )
  }
  return Array.from(lost, ([by, count]) => [by, count, keysOfLastCreates(by)] as const).filter(
    ([, count, bound]) => count > bound
  )
}

/**
 * C6: every key that was minted is bound, pooled, recorded, stocked, held or lost, and what is lost has a cause that was counted: a buffer, what is put aside, and the keys that it was about to return, for each kill, and a buffer for
 * each lease that was not answered; the keys of each return that failed, and was not made afterwards; the keys of creates whose outcome nobody learned, up to eight for each that failed, and a key for each try of one that was slow or met a kill; a refill of each pool shard, and of the stock, for each kill and each pause that outlasts a wait; a refill for each record and each question to
 * the witnesses that was not answered, for each that was minted when its asker had shut down, and for each owner that was fenced; the numbers that were not marked yet when a standby was promoted; what refills push to a pool shard, and what was returned to it, for each time that it lost data. A graceful shutdown or a move loses nothing.
 */
export const Ledger: Checker = {
  name: "ledger",
  seesForgotten: true,
  check: (evidence) => {
    const { end_us, exchanges, journal, options } = evidence
    const losses = lossesOf(evidence)
    const { advances, kills, leases, longPauses, redis, refills } = causesOf(evidence)
    const violations: Array<Violation> = []
    const atMost = (lost: number, bound: number, what: string) => {
      if (lost <= bound) return
      const text = `${lost} keys were lost ${what}, and ${bound} may be`
      violations.push({ checker: Ledger.name, at_us: end_us, text, keys: [] })
    }
    // Of each pool shard, and of the stock by each node: their keys are minted where the ranges are.
    const forgot = journal.filter((entry) => entry.tag === "database forgot")
    const forgottenLinks = forgot.reduce((sum, { links }) => sum + links.length, 0)
    const givenUp = journal.reduce(
      (sum, entry) =>
        entry.tag === "recovered" || entry.tag === "database forgot" ? sum + entry.keys.length : sum,
      0
    )
    const known = new Set(journal.flatMap((entry) => (entry.tag === "minted" ? entry.keys : [])))
    const hasForgotten = journal.some(({ tag }) => tag === "database forgot" || tag === "recovered")
    /** Minted keys that were free again and came into no stock: others may have them from a time that was forgotten. */
    const withheld = journal.filter(
      (entry) => hasForgotten && entry.tag === "freed" && entry.custom && known.has(plainKeyOf(entry.key))
    ).length
    const refillsAtOnce = options.pools + options.nodes
    const uncertain = exchanges.filter(isUncertain(evidence))
    // What a process alone has in its memory comes again from its records.
    const emptied = options.alone === null ? kills : 0
    atMost(
      losses.held + losses.leases,
      (emptied + leases) * options.bufferCapacity +
        returnedInVain(evidence) +
        (options.alone === null ? keysOfCreates(uncertain) : openAtKills(evidence)) +
        forgottenLinks +
        withheld +
        neverLearned(evidence) +
        spareWhenKilled(evidence) +
        evidence.asideLost,
      "by nodes"
    )
    // Who has keys is known of the actors' messages, and of rows that the database has not forgotten.
    if (options.level === "actors" && givenUp + withheld + forgot.length === 0) {
      atMost(losses.leases, (kills + leases) * options.bufferCapacity, "that leases gave to nobody")
      if (options.keyOrder !== "random") {
        atMost(lostRefills(evidence), 0, "by refills that nothing had stopped")
        atMost(thrownAway(evidence), 0, "that were minted, and whose owner gave none")
      }
      for (const [by, lost, bound] of lostByTheLiving(evidence))
        atMost(lost, bound, `by ${by}, which was not killed`)
    }
    for (const [by, lost, bound] of preloadedTooMuch(evidence))
      atMost(lost, bound, `that ${by} had read ahead from its file`)
    const { pushed, returned } = lostWithData(evidence)
    // What came back to a pool in memory is stocked by a process that shuts down, if the database answers.
    const isStocked = options.alone !== null && kills === 0 && !isStockingRefused(evidence)
    // A Redis that lost its data excuses what it had, and no key that left its pool otherwise.
    const gone = Math.min(pushed, redis * 2 * options.poolHigh) + (isStocked ? 0 : returned)
    atMost(losses.pools, gone + givenUp + forgottenLinks + withheld, "by pool shards")
    atMost(
      unminted(journal),
      (kills + advances + forgot.length * refillsAtOnce) * refillMax(options) +
        unmarkedAtPromotions(evidence),
      "between the watermark and the keys"
    )
    atMost(
      losses.refills,
      ((kills + longPauses + forgot.length) * refillsAtOnce + refills) * refillMax(options),
      "before they were recorded"
    )
    return violations
  }
}

/** Numbers that ranges have passed over, and that became no keys. */
const unminted = (journal: Evidence["journal"]) =>
  journal.reduce((sum, entry) => {
    if (entry.tag === "advanced") return sum + entry.count
    return entry.tag === "minted" ? sum - entry.keys.length : sum
  }, 0)

/** Keys of one refill, or of one filling of the stock, at most. */
const refillMax = ({ keyStockTarget, poolHigh }: Evidence["options"]) => Math.max(poolHigh, keyStockTarget)
