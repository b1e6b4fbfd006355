import type { SimOptions } from "../cli/Options.ts"
import { poolKinds } from "../../storage/keys/KeyPool.ts"
import { stockKinds } from "../../storage/keys/KeyStock.ts"
import { Chance } from "../world/Chance.ts"
import { aims, callsOf } from "./Aims.ts"
import { withBrokenConnections, withFewConnections, withNewsResets, withSlowNews } from "./Connections.ts"
import {
  withAilments,
  withDatabases,
  withFirstCalls,
  withReplica,
  withStandby,
  withWrongClock
} from "./Databases.ts"
import { liteFaults, noFaults, weighted, withLongPauses } from "./Faults.ts"
import { withFullPools, withLoweredMarks } from "./Pools.ts"
import { withFailingSteps, withLateSteps, withStruckSteps } from "./Steps.ts"

/** A small deployment, so that a few requests go through everything: refills, other shards, other owners. */
const calm: SimOptions = {
  level: "actors",
  nodes: 3,
  databases: 1,
  connectionsMax: 20,
  pools: 2,
  alone: null,
  keyOrder: "permuted",
  keyPool: "list",
  keysPerRange: null,
  bufferCapacity: 16,
  redirectCacheMax: 64,
  ownerCacheMax: 16,
  staleRedirects_s: 0,
  linkReplicaLag_ms: null,
  poolLow: 20,
  poolHigh: 60,
  poolHighLater: null,
  keyStock: "none",
  keyStockTarget: 0,
  quarantine_s: 20,
  answersKept_s: null,
  witnessed: false,
  compared: false,
  visitsSettle_s: null,
  visitHours_days: 0,
  sessionIdle_s: null,
  drainDelay_ms: 2_500,
  createsPerMinute: null,
  redirectsPerDay: null,
  keyRedirectsPerDay: null,
  failedLookupsPerMinute: null,
  faulty_s: 42,
  calm_s: 20,
  still_s: 0,
  workload: {
    clients: 6,
    think_ms: 1_230,
    created: 0.53,
    deleted: 0.04,
    changed: 0.06,
    withAlias: 0.1,
    withLongAlias: 0,
    withKey: 0.08,
    reused: 0.06,
    bulk: 0.02,
    withExpiry: 0.1,
    withMaxVisits: 0.1,
    withPassword: 0,
    withChoices: 0,
    varied: 0,
    refused: 0,
    edited: 0,
    extended: 0,
    shown: 0,
    statistics: 0,
    crawled: 0,
    listed: 0,
    editedInBulk: 0,
    withAccount: 0,
    imported: 0,
    signedIn: 0,
    withWebhooks: 0,
    audited: 0,
    guessed: 0,
    withDomain: 0.2,
    domainsChanged: 0,
    domainsAsked: 0,
    justCreated: 0.4,
    wished: 0.05,
    bursts: 0.02,
    followed: 0,
    rivalled: 0,
    remembered: 400
  },
  faults: noFaults
}

/** How often each kind of fault comes in a seed: some not at all, some seldom, some often. */
const drawnWeights = (chance: Chance) => {
  const weights = new Map<string, number>()
  return (name: string) => {
    const known = weights.get(name) ?? chance.pick([0, 0.5, 1, 1, 2, 6])
    weights.set(name, known)
    return known
  }
}

const drawnSizes = (chance: Chance) => {
  const capacity = chance.pick([4, 16, 32])
  const low = capacity + chance.below(20)
  return {
    nodes: chance.between(1, 4),
    pools: chance.between(1, 3),
    bufferCapacity: capacity,
    poolLow: low,
    poolHigh: low + chance.between(10, 80)
  }
}

/** What speed is measured with: deployments of one kind whose clients always do much the same, under faults that differ from seed to seed. */
const steady = (seed: number): SimOptions => {
  const chance = new Chance(seed, "steady")
  const weight = drawnWeights(chance)
  return {
    ...calm,
    ...drawnSizes(chance),
    workload: {
      ...calm.workload,
      bursts: chance.pick([0, 0.02, 0.1]),
      deleted: chance.pick([0, 0.04, 0.15]),
      changed: chance.pick([0, 0.06, 0.2]),
      withKey: chance.pick([0, 0.08, 0.2]),
      reused: chance.pick([0, 0.06, 0.12]),
      bulk: chance.pick([0, 0.02, 0.05])
    },
    faults: { ...weighted(liteFaults, weight), preemption: chance.pick([0, 0.01, 0.02]) }
  }
}

/** Everything that can be drawn is: the deployment's shape and sizes, what clients do, and which faults come how often. */
const swarm = (seed: number): SimOptions => {
  const chance = new Chance(seed, "swarm")
  const weight = drawnWeights(chance)
  const quarantine_s = chance.pick([4, 10, 20])
  const clients = chance.pick([2, 6, 20])
  const choices = new Chance(seed, "choices")
  const drawn: SimOptions = {
    ...calm,
    ...drawnSizes(chance),
    keyOrder: chance.pick(["permuted", "permuted", "sequential", "random"]),
    keyPool: chance.pick(poolKinds),
    keysPerRange: chance.pick([null, null, null, 10, 30]),
    redirectCacheMax: chance.pick([4, 64, 64]),
    ownerCacheMax: chance.pick([2, 16, 64]),
    staleRedirects_s: quarantine_s * chance.pick([0, 0, 0.3, 0.7]),
    keyStock: chance.pick(["none", ...stockKinds]),
    keyStockTarget: chance.pick([0, 30, 120]),
    quarantine_s,
    answersKept_s: chance.pick([null, 12, 24]),
    createsPerMinute: chance.pick([null, 8, 300]),
    redirectsPerDay: new Chance(seed, "redirects of a day").pick([null, 6, 20, 2_000]),
    keyRedirectsPerDay: new Chance(seed, "redirects of a key").pick([null, null, 5, 30]),
    failedLookupsPerMinute: new Chance(seed, "failed look-ups").pick([6, 30, 90]),
    witnessed: new Chance(seed, "witnesses").happens(1 / 3),
    compared: new Chance(seed, "compared stores").happens(2 / 3),
    visitsSettle_s: new Chance(seed, "upkeep of visits").pick([null, 2, 8]),
    visitHours_days: new Chance(seed, "retention of visits").pick([0, 1]),
    sessionIdle_s: new Chance(seed, "idle sessions").pick([null, 8]),
    drainDelay_ms: new Chance(seed, "drains").pick([2_500, 300, 0]),
    still_s: new Chance(seed, "still ends").pick([0, 0, 10]),
    workload: {
      clients,
      think_ms: Math.round((1_000 * clients) / chance.pick([2, 5, 9, 18])),
      created: chance.pick([0.2, 0.53, 0.8]),
      deleted: chance.pick([0, 0.04, 0.15]),
      changed: chance.pick([0, 0.06, 0.2]),
      withAlias: chance.pick([0, 0.1, 0.3]),
      withLongAlias: new Chance(seed, "long aliases").pick([0, 0, 0.3]),
      withKey: chance.pick([0, 0.08, 0.2]),
      reused: chance.pick([0, 0.06, 0.12]),
      bulk: chance.pick([0, 0.02, 0.05]),
      withExpiry: chance.pick([0, 0.1, 0.4]),
      withMaxVisits: chance.pick([0, 0.1, 0.3]),
      withPassword: new Chance(seed, "passwords of links").pick([0, 0.05, 0.15]),
      withChoices: choices.pick([0, 0.1, 0.2, 0.4]),
      varied: new Chance(seed, "varied choices").pick([0, 0.3, 0.6]),
      refused: new Chance(seed, "refusals").pick([0, 0, 0.1]),
      edited: choices.pick([0, 0, 0.3, 0.7]),
      extended: new Chance(seed, "changed ends").pick([0, 0.2, 0.5]),
      shown: new Chance(seed, "shown").pick([0, 0.1, 0.3]),
      statistics: new Chance(seed, "statistics").pick([0, 0.03, 0.06]),
      crawled: new Chance(seed, "crawlers").pick([0, 0.005, 0.02]),
      listed: choices.pick([0, 0.02, 0.04]),
      editedInBulk: new Chance(seed, "bulk edits").pick([0, 0.005, 0.01]),
      withAccount: chance.pick([0, 0.1, 0.2, 0.5]),
      imported: new Chance(seed, "imports").pick([0, 0, 0.3, 0.7]),
      signedIn: new Chance(seed, "signed in").pick([0, 0.1, 0.2, 0.5]),
      withWebhooks: new Chance(seed, "webhooks").pick([0, 0.2, 0.4]),
      audited: new Chance(seed, "audits").pick([0, 0.02, 0.06]),
      guessed: new Chance(seed, "guesses").pick([0, 0, 0.04]),
      withDomain: new Chance(seed, "domains").pick([0, 0.2, 0.6]),
      domainsChanged: new Chance(seed, "changing domain").pick([0, 0.3, 0.7]),
      domainsAsked: new Chance(seed, "domains asked for").pick([0, 1]),
      justCreated: chance.pick([0.1, 0.4, 0.8]),
      wished: chance.pick([0, 0.05, 0.2]),
      bursts: chance.pick([0, 0.02, 0.1]),
      followed: new Chance(seed, "followers").pick([0, 0.3, 0.6]),
      rivalled: new Chance(seed, "rivals").pick([0, 0.1, 0.4]),
      remembered: chance.pick([5, 40, 400])
    },
    faults: { ...weighted(liteFaults, weight), preemption: chance.pick([0, 0.01, 0.02]) }
  }
  // In turns, so that a few dozen seeds have all of them.
  const aim = aims[seed % aims.length]!
  const aimed = aim(drawn, chance)
  const struck = withLongPauses(
    withStruckSteps(aimed, new Chance(seed, "struck steps")),
    new Chance(seed, "long pauses")
  )
  const ailing = withAilments(withStandby(struck, new Chance(seed, "standby")), new Chance(seed, "ailments"))
  const drawnDatabases = new Chance(seed, "databases").pick([1, 1, 1, 1, 1, 1, 2, 3, 3, 4])
  const databases = ailing.alone === "sqlite" ? 1 : Math.max(ailing.databases, drawnDatabases)
  const whole = withDatabases(withFewConnections(ailing, new Chance(seed, "connections")), databases, seed)
  const read = withReplica(whole, new Chance(seed, "replica of links"))
  const failing = withFailingSteps(
    withFirstCalls(read, new Chance(seed, "first calls")),
    new Chance(seed, "failing steps")
  )
  const late = withLateSteps(failing, callsOf.get(aim) ?? [], new Chance(seed, "late steps"))
  const breaking = withBrokenConnections(late, new Chance(seed, "broken connections"))
  const filled = withFullPools(breaking, new Chance(seed, "full pools"))
  const lowered = withLoweredMarks(filled, new Chance(seed, "lowered marks"))
  const timed = withWrongClock(lowered, new Chance(seed, "wrong clock of the database"))
  const hearing = withSlowNews(timed, new Chance(seed, "slow news"))
  return withNewsResets(hearing, new Chance(seed, "resets of news"))
}

/** The presets, by name: each makes the options of a seed. */
export const presets = {
  calm: () => calm,
  lite: () => ({ ...calm, witnessed: true, compared: true, faults: liteFaults }),
  swarm,
  steady,
  cruel: () => ({ ...calm, witnessed: true, faults: weighted(liteFaults, () => 5) })
} satisfies Record<string, (seed: number) => SimOptions>

/** See {@link presets}. */
export type PresetName = keyof typeof presets
