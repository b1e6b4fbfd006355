import type { SimOptions } from "../cli/Options.ts"
import type { Mutant } from "./Mutant.ts"

/** In a run where the stores are compared: a piece of the text of their SQL is another one. */
const instead = (
  mutant: Pick<Mutant, "name" | "text" | "promise">,
  [piece, other]: readonly [piece: string, other: string],
  options: (options: SimOptions) => SimOptions = (options) => options
): Mutant => ({
  ...mutant,
  checker: "stores",
  options: (drawn) => ({ ...options(drawn), compared: true, databases: 1 }),
  make: () => ({ statement: (sql) => sql.replace(piece, other) })
})

/** Users who make links. No standby lags: it would forget what is theirs. */
const withUsers = ({ faults, workload, ...options }: SimOptions): SimOptions => ({
  ...options,
  workload: { ...workload, withAccount: 0.5 },
  faults: { ...faults, databaseLag_ms: 0 }
})

/** What can be broken about the SQL of the stores. */
export const statements: ReadonlyArray<Mutant> = [
  instead(
    {
      name: "settled-guard-begun-again",
      text: "A guard that was settled can be begun again when its lease is over.",
      promise: "C7"
    },
    ["create_guards.answer IS NULL AND", "true AND"],
    ({ workload, ...options }) => ({ ...options, workload: { ...workload, withKey: 0.3 } })
  ),
  instead(
    {
      name: "freed-keys-left-in-records",
      text: "Keys that are free again stay in the records of open batches.",
      promise: "C2"
    },
    ["UPDATE pool_batches SET keys = ?", "UPDATE pool_batches SET keys = coalesce(keys, ?)"],
    (options) => ({
      ...options,
      quarantine_s: 4,
      workload: { ...options.workload, deleted: 0.15, created: 0.4 }
    })
  ),
  instead(
    {
      name: "watermark-beyond-its-range",
      text: "The last block of a range has one key too many.",
      promise: "C2"
    },
    ["next + ? <= ?", "next + ? <= ? + 1"],
    (options) => ({ ...options, keysPerRange: 4 })
  ),
  instead(
    {
      name: "batch-of-visits-added-again",
      text: "A batch of visits that is written again is added again.",
      promise: "C11"
    },
    ["visit_writers.sequence < excluded.sequence", "visit_writers.sequence <= excluded.sequence"],
    ({ faults, ...options }) => ({
      ...options,
      faults: { ...faults, databaseCalls: { refused: 0, lost: 0.1, ignored: 0 } }
    })
  ),
  instead(
    {
      name: "newest-update-forgotten",
      text: "Of a link's updates the first eight are known when they come again, not the last.",
      promise: "C7"
    },
    [
      "SELECT u.value ->> 'updateId' AS value UNION ALL SELECT value FROM json_each(links.update_ids)",
      "SELECT value FROM json_each(links.update_ids) UNION ALL SELECT u.value ->> 'updateId' AS value"
    ],
    ({ workload, ...options }) => ({
      ...options,
      workload: { ...workload, changed: 0.8, created: 0.1, deleted: 0, withMaxVisits: 0, remembered: 3 }
    })
  ),
  instead(
    {
      name: "quarantine-begins-earlier",
      text: "The quarantine of a key begins a second before its link has ended.",
      promise: "C1"
    },
    ["WHERE ended_at <=", "WHERE ended_at - 1000 <="]
  ),
  instead(
    {
      name: "any-delete-is-a-repeat",
      text: "A link that is deleted already is deleted again by anybody.",
      promise: "C7"
    },
    ["links.deleted_at IS NOT NULL AND", "links.deleted_at IS NOT NULL OR"]
  ),
  instead(
    {
      name: "attempt-not-counted",
      text: "A webhook's message is claimed again as if it had not been tried.",
      promise: "webhooks"
    },
    ["attempts = attempts + 1", "attempts = attempts"],
    (options) => ({
      ...withUsers(options),
      faults: { ...options.faults, webhookCalls: { refused: 0.3, lost: 0, ignored: 0 } }
    })
  ),
  instead(
    {
      name: "lease-of-a-quota-not-written",
      text: "What a node is given of a quota is left for the others, too.",
      promise: "quotas"
    },
    ["available = q.available", "available = quotas.available"],
    withUsers
  ),
  instead(
    {
      name: "disabled-user-signs-in",
      text: "A session of a disabled user begins.",
      promise: "accounts"
    },
    ["password_hash = ? AND disabled_at IS NULL", "password_hash = ?"],
    (options) => {
      const { workload, ...more } = withUsers(options)
      return { ...more, workload: { ...workload, signedIn: 0.5 } }
    }
  )
]
