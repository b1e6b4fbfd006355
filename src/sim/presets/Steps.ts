import { Array as Arr } from "effect"
import type { SimOptions } from "../cli/Options.ts"
import type { Chance } from "../world/Chance.ts"
import { failAtAll, mayCallsBeLate, mayDatabaseCallsFail } from "./Faults.ts"

/** The steps of protocols at which a node is killed or shut down in some seeds: calls of stores, and messages to other nodes and their answers. */
export const protocolSteps: ReadonlyArray<string> = [
  "KeyRangeStore.advance",
  "KeyStock.claim",
  "KeyStock.record",
  "KeyStock.take",
  "KeyStock.openBatches",
  "KeyStock.close",
  "KeyStock.fill",
  "KeyPool.claim",
  "KeyPool.push",
  "KeyPool.lease",
  "KeyPool.giveBack",
  "KeyFile.append",
  "KeyFile.take",
  "LinkStore.insertMany",
  "LinkStore.updateMany",
  "LinkStore.deleteMany",
  "LinkStore.takeVisits",
  "LinkStore.takenAmong",
  "GuardedCreates.beginMany",
  "GuardedCreates.bindMany",
  "LinkLifetime.expireSome",
  "LinkLifetime.recycle",
  "VisitStore.write",
  "send Mint",
  "answer Mint",
  "send Lease",
  "answer Lease",
  "send Return",
  "send CreateMany",
  "answer CreateMany",
  "answer Visit",
  "answer Update",
  "answer Delete",
  "AccountStore.changeUser",
  "AccountStore.removeUser",
  "AccountStore.setPassword",
  "AccountStore.addSession",
  "AccountStore.addKey",
  "AuditLog.record",
  "LinkRemovals.ask",
  "LinkRemovals.remove",
  "QuotaStore.leaseMany",
  "WebhookStore.lapse",
  "WebhookStore.offer",
  "WebhookStore.claim",
  "WebhookStore.delivered",
  "WebhookStore.failed",
  "WebhookStore.release"
]

/** Has nodes be killed at so many steps of protocols, or shut down. */
export const struckAt = (
  options: SimOptions,
  chance: Chance,
  probability: number,
  steps: number
): SimOptions => ({
  ...options,
  faults: {
    ...options.faults,
    crashPoint: {
      probability,
      least_ms: 100,
      most_ms: 3_000,
      at: Arr.makeBy(steps, () => chance.pick(protocolSteps)),
      stops: chance.happens(0.4)
    }
  }
})

/** The same now and then, where seeds aim at something else and nodes are killed at any step. */
export const withStruckSteps = (options: SimOptions, chance: Chance): SimOptions => {
  const { at, probability } = options.faults.crashPoint
  return probability === 0 || at !== null || !chance.happens(0.4)
    ? options
    : struckAt(options, chance, chance.pick([0.01, 0.05]), 3)
}

/** How often calls of some of these operations fail, for good or unnoticed by those who make them. */
const failingAt = (chance: Chance, operations: ReadonlyArray<string>) => ({
  refused: chance.pick([0, 0.1, 0.3]),
  lost: chance.pick([0.05, 0.1, 0.3]),
  ignored: chance.pick([0, 0, 0.1]),
  at: Arr.makeBy(3, () => chance.pick(operations))
})

const isOfPools = (step: string) => step.startsWith("KeyPool.")
const stepsOfPools = protocolSteps.filter(isOfPools)

/** Calls of the database that fail often or are often late in some seeds: those of steps of protocols, and others by which nodes know what holds. */
const stepsOfDatabase = [
  ...protocolSteps.filter((step) => !/^(?:answer |KeyFile\.)/.test(step) && !isOfPools(step)),
  "LinkStore.findMany",
  "LinkStore.list",
  "LinkStore.rankMany",
  "LinkLifetime.expire",
  "LinkLifetime.toForget",
  "LinkLifetime.forgotten",
  "LinkRemovals.first",
  "LinkEpoch.isInForce",
  "BucketPlacement.read",
  "DatabaseMark.look",
  "DomainStore.read",
  "DomainStore.change",
  "GuardedCreates.findByUrl",
  "GuardedCreates.settleMany",
  "GuardedCreates.abandonMany",
  "VisitStore.isWritten",
  "VisitStore.rank",
  "VisitStore.rollUp",
  "VisitStore.forget",
  "AccountStore.addUser",
  "AccountStore.endSession",
  "AccountStore.keyBySecret",
  "AccountStore.removeKey",
  "AccountStore.sessionByToken",
  "AccountStore.userByEmail",
  "WebhookStore.find",
  "WebhookStore.look",
  "WebhookStore.remove",
  "WebhookStore.verify"
]

/** In some seeds in which stores' calls fail, those of few operations fail so often that what is done again and again becomes usual. */
export const withFailingSteps = (options: SimOptions, chance: Chance): SimOptions => {
  const { databaseCalls, redisCalls } = options.faults
  const ofDatabase = mayDatabaseCallsFail(options) && chance.happens(0.5)
  const ofPools = failAtAll(redisCalls) && chance.happens(0.3)
  return {
    ...options,
    faults: {
      ...options.faults,
      ...(ofDatabase && { databaseCalls: { ...databaseCalls, single: failingAt(chance, stepsOfDatabase) } }),
      ...(ofPools && { redisCalls: { ...redisCalls, single: failingAt(chance, stepsOfPools) } })
    }
  }
}

/** In some seeds the calls of few operations are late, so often that what else happens meanwhile becomes usual: one of `own`, if there are any, and two others. */
export const withLateSteps = (
  options: SimOptions,
  own: ReadonlyArray<string>,
  chance: Chance
): SimOptions => {
  if (!mayCallsBeLate(options) || !chance.happens(0.5)) return options
  const { most_ms, probability } = options.faults.slowCalls
  const any = [...stepsOfDatabase, ...stepsOfPools]
  const single = {
    probability: chance.pick([0.1, 0.3, 0.6]),
    at: [chance.pick(own.length > 0 ? own : any), chance.pick(any), chance.pick(any)] as const
  }
  const slowCalls = { probability, most_ms: probability > 0 ? most_ms : chance.pick([300, 1_200]), single }
  return { ...options, faults: { ...options.faults, slowCalls } }
}
