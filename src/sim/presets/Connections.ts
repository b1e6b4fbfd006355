import type { SimOptions } from "../cli/Options.ts"
import type { Chance } from "../world/Chance.ts"
import { fewConnections } from "./Faults.ts"

/** Nodes miss the news of changes again and again, in some seeds. */
export const withNewsResets = (options: SimOptions, chance: Chance): SimOptions => {
  const { alone, faults } = options
  if (alone === "sqlite" || faults.newsReset.perMinute > 0 || !chance.happens(0.25)) return options
  const newsReset = { perMinute: chance.pick([4, 20]), least_ms: 0, most_ms: chance.pick([0, 1_000]) }
  return { ...options, faults: { ...faults, newsReset } }
}

/** Nodes hear late of changes, some of them, and late that they have heard of all. */
export const withSlowNews = (options: SimOptions, chance: Chance): SimOptions => {
  if (options.alone === "sqlite" || !chance.happens(0.3)) return options
  const slowNews = { probability: chance.pick([0.1, 0.5]), most_ms: chance.pick([400, 900]) }
  return { ...options, faults: { ...options.faults, slowNews } }
}

/** Few connections, for which calls wait: where none is given up unanswered, since a pool opens no others for 15 s when it has given up as many as it may have. */
export const withFewConnections = (options: SimOptions, chance: Chance): SimOptions => {
  const { cutDatabase, databaseCalls, databaseFailover, databaseRestart, databaseSlow, pause, slowCalls } =
    options.faults
  const faults = [cutDatabase, databaseFailover, databaseRestart, databaseSlow, pause]
  const isAnswered =
    faults.every(({ perMinute }) => perMinute === 0) &&
    databaseCalls.lost + databaseCalls.ignored === 0 &&
    slowCalls.most_ms * slowCalls.probability < 500 &&
    slowCalls.single === undefined
  return isAnswered ? { ...options, connectionsMax: chance.pick([20, fewConnections]) } : options
}

/** Callers whose answers are lost hear at once that their connections broke, some of them or nearly all; and so do senders of messages. */
export const withBrokenConnections = (options: SimOptions, chance: Chance): SimOptions => {
  const { databaseCalls, messages, redisCalls } = options.faults
  const broken = () => ({ broken: chance.pick([0, 0.5, 0.9]) })
  return {
    ...options,
    faults: {
      ...options.faults,
      databaseCalls: { ...databaseCalls, ...broken() },
      redisCalls: { ...redisCalls, ...broken() },
      messages: { ...messages, ...broken() }
    }
  }
}
