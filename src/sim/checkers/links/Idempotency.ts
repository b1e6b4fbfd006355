import { Array } from "effect"
import type { Checker, Evidence, Violation } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { s_us } from "../../world/Time.ts"

const isMade = ({ status }: Exchange) => status === 200 || status === 201

/** How fast a database's clock may be, as a share of true time. */
const driftMax = 0.02

/** Not answered, or so that it may be tried again: nothing is said of what came of it. */
const isOpen = ({ status }: Exchange) => status === 0 || status >= 500

/** Whether a user is refused before the create is looked at: the API key is revoked, or may not create, or a quota is used up. */
const isRefusedToUser = ({ apiKey, status }: Exchange) =>
  apiKey !== undefined && [401, 403, 429].includes(status)

/** Whether it is told that it leads to a host that is blocked, maybe since the first one came. */
const isBlocked = ({ body, status }: Exchange) => status === 422 && body?.includes('blocked-target"') === true

/** Whether it is told that its alias is taken. */
const isTaken = ({ body, status }: Exchange) => status === 409 && body?.includes('alias-taken"') === true

/** How long a create may have taken at most that has certainly kept its answer for repeats: a part of the time for which a guard is held. */
const heldFor_us = 2 * s_us

/** What requests were answered after one of them, with the same body, had been told that its alias is taken: that is kept for repeats, unless it is lost on the way to the store, or the guard was another's by then. */
const unkeptOf = (
  requests: ReadonlyArray<Exchange>,
  isLost: (from_us: number, until_us: number) => boolean
): Exchange | undefined => {
  const taken = requests.filter(
    (request) =>
      isTaken(request) &&
      request.answered_us! - request.sent_us < heldFor_us &&
      !isLost(request.sent_us, request.answered_us!)
  )
  return requests.find(
    (request) =>
      !isOpen(request) &&
      !isTaken(request) &&
      taken.some(({ answered_us, url }) => answered_us! < request.sent_us && url === request.url)
  )
}

const numbersOf = (requests: ReadonlyArray<Exchange>) => requests.map(({ number }) => `#${number}`).join(", ")

/** A key that was bound, and when. */
interface Binding {
  readonly key: string
  readonly at_us: number
}

/** The keys that were bound to each target. */
const boundTo = ({ journal }: Evidence): ReadonlyMap<string, ReadonlyArray<Binding>> => {
  const keys = new Map<string, Array<Binding>>()
  for (const entry of journal) {
    if (entry.tag !== "bound") continue
    const { key, url } = entry.link
    keys.set(url, [...(keys.get(url) ?? []), { key, at_us: entry.at_us }])
  }
  return keys
}

/**
 * What is wrong about the requests with one `Idempotency-Key`, in the order in which they were sent. Of those that were refused to their user, or for a host that is blocked, nothing is judged but that they asked, and that none of them repeats what was answered and is refused for a quota. `forgottenAt`: from when on nothing told any more of the create that bound a key. Judged are those
 * that were answered while the first answer was kept for certain: those of later ones may make a link again.
 */
const faultsOf = (
  asked: ReadonlyArray<Exchange>,
  bound: ReadonlyMap<string, ReadonlyArray<Binding>>,
  kept_us: number,
  isLost: (from_us: number, until_us: number) => boolean,
  forgottenAt: (binding: Binding) => number
): ReadonlyArray<readonly [at: Exchange, text: string]> => {
  const all = asked.filter((exchange) => !isRefusedToUser(exchange) && !isBlocked(exchange))
  const until_us = (all[0]?.sent_us ?? 0) + kept_us
  const requests = all.filter(({ answered_us }) => answered_us === undefined || answered_us < until_us)
  if (requests.length === 0) return []
  const made = requests.filter(isMade)
  const urls = new Set(requests.map(({ url }) => url!))
  const [first] = requests
  /** Whether nothing told of a link any more before anybody was told of it. */
  const isGone = (binding: Binding) => {
    const forgotten_us = forgottenAt(binding)
    return Number.isFinite(forgotten_us) && !made.some(({ answered_us }) => answered_us! < forgotten_us)
  }
  // Links that are reused are made by others too, and tell their visits.
  const isOwn = first!.reuse !== true
  const links = isOwn
    ? [...urls].flatMap((url) =>
        (bound.get(url) ?? []).flatMap((one) => (one.at_us < until_us && !isGone(one) ? [one.key] : []))
      )
    : []
  const original = made.find(({ isReplay }) => !isReplay)
  const replays = isOwn ? made : made.filter(({ isReplay }) => isReplay)
  const different = replays.find(({ body, status }) => {
    const [one] = replays
    return one!.body !== body || one!.status !== status
  })
  const created = made.filter(({ isReplay, status }) => !isReplay && status === 201)
  const unlike = requests.find(
    ({ answered_us, status, url }) =>
      status === 422 && !asked.some((other) => other.url !== url && other.sent_us < answered_us!)
  )
  /** What stands answered: what follows is answered alike, or refused when it asks for something else. */
  const known = made.filter(({ isReplay, status }) => isReplay || status === 201)
  const refused = requests.find(
    (request) =>
      !isOpen(request) &&
      known.some(
        ({ answered_us, url }) =>
          answered_us! < request.sent_us && (url === request.url ? !isMade(request) : request.status !== 422)
      )
  )
  const unkept = unkeptOf(requests, isLost)
  const limited = asked.find(
    ({ answered_us, sent_us, status, url }) =>
      status === 429 &&
      answered_us! < until_us &&
      known.some((one) => one.answered_us! < sent_us && one.url === url && !isLost(one.sent_us, answered_us!))
  )
  return [
    ...(unkept === undefined
      ? []
      : [
          [
            unkept,
            `were answered ${unkept.status} (${unkept.body}) after one of them had been told that its alias is taken`
          ] as const
        ]),
    ...(limited === undefined
      ? []
      : [
          [
            limited,
            "were refused for a quota after one of them was answered, which a repeat does not use"
          ] as const
        ]),
    ...(links.length > 1 ? [[requests.at(-1)!, `made the links ${links.join(" and ")}`] as const] : []),
    ...(different === undefined
      ? []
      : [[different, `were answered ${different.body}, and ${replays[0]!.body}`] as const]),
    ...(created.length > 1
      ? [[created[1]!, `made ${original!.key}, and ${created[1]!.key}, neither as a replay`] as const]
      : []),
    ...(unlike === undefined
      ? []
      : [[unlike, "were refused for their bodies, though these are the same"] as const]),
    ...(refused === undefined
      ? []
      : [[refused, `were answered ${refused.status} after one of them was answered`] as const])
  ]
}

/**
 * C7: requests with one `Idempotency-Key` make one link at most, however many come when and at which node; those of the same body are given the same
 * answer, byte for byte, and once there is one all of them are, also where it is that the alias is taken; those of another body are refused.
 */
export const Idempotency: Checker = {
  name: "idempotency",
  check: (evidence) => {
    const keyed = evidence.exchanges.filter(({ idempotencyKey }) => idempotencyKey !== undefined)
    const bound = boundTo(evidence)
    // By the database's clock.
    const skipped_us = evidence.clock.jumps.reduce((sum, { by_us }) => sum + Math.max(0, by_us), 0)
    const { answersKept_s } = evidence.options
    const kept_us =
      answersKept_s === null ? Number.POSITIVE_INFINITY : (1 - driftMax) * answersKept_s * s_us - skipped_us
    // Where buckets move, an answer may be lost without a call. A guard can be begun again when the clock jumps.
    const areSeveral = evidence.options.databases > 1
    // A guard in another database than its link may not be settled: then only that has its create, as long as it has the link's row.
    const forgottenAt = ({ at_us, key }: Binding) => {
      const life = areSeveral
        ? evidence.lives.get(key)?.find(({ bound_us }) => bound_us === at_us)
        : undefined
      return life?.freed_us ?? Number.POSITIVE_INFINITY
    }
    const isAnyLost = areSeveral || evidence.journal.some(({ tag }) => tag === "database forgot")
    const losses = [
      ...evidence.clock.jumps,
      ...evidence.journal.filter(
        (entry) => entry.tag === "unanswered" && entry.operation.startsWith("GuardedCreates.")
      )
    ]
    const isLost = (from_us: number, until_us: number) =>
      isAnyLost || losses.some(({ at_us }) => from_us <= at_us && at_us <= until_us)
    return Object.entries(Array.groupBy(keyed, ({ idempotencyKey }) => idempotencyKey!)).flatMap(
      ([idempotencyKey, requests]) =>
        faultsOf(requests, bound, kept_us, isLost, forgottenAt).map(([at, text]): Violation => ({
          checker: Idempotency.name,
          at_us: at.answered_us ?? evidence.end_us,
          text: `requests ${numbersOf(requests)} with the Idempotency-Key ${idempotencyKey} ${text}`,
          keys: requests.flatMap(({ key, number }) => [`#${number}`, ...(key === undefined ? [] : [key])])
        }))
    )
  }
}
