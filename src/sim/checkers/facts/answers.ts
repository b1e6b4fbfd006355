import type { Evidence } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { s_us } from "../../world/Time.ts"
import { knownOf } from "./known.ts"
import { createdLinks, type Life, type Version } from "./lives.ts"

/** What may be answered to somebody who asks about a key. */
export interface Answers {
  /** What its links may be shown as: as they are, or were within the last second. */
  readonly versionsOf: (all: ReadonlyArray<Life>, asked: Exchange) => ReadonlyArray<Version>
  /** Those of its links of which that may be told. */
  readonly livesFor: (all: ReadonlyArray<Life>, asked: Exchange) => ReadonlyArray<Life>
  /** Whether one of them was created when it was asked for, and had not ended when that was answered. */
  readonly isThere: (all: ReadonlyArray<Life>, asked: Exchange) => boolean
}

/** See {@link Answers}. */
export const answersOf = (evidence: Evidence): Answers => {
  const { exchanges, lives } = evidence
  const created = createdLinks(exchanges, lives)
  const { isExcused, versionsFor } = knownOf(evidence)
  const livesFor: Answers["livesFor"] = (all, answered) =>
    all.filter((life) => {
      const deleted_us = created.get(life)?.deleted_us ?? Number.POSITIVE_INFINITY
      const isGone =
        life.freed_us < answered.sent_us ||
        (deleted_us + s_us < answered.sent_us && !isExcused(life, answered, deleted_us))
      return life.bound_us <= answered.answered_us! && !isGone
    })
  return {
    livesFor,
    versionsOf: (all, asked) => livesFor(all, asked).flatMap((life) => versionsFor(life, asked)),
    isThere: (all, { answered_us, sent_us }) =>
      all.some(
        (life) =>
          life.ended_us > answered_us! &&
          sent_us > (created.get(life)?.create.answered_us ?? Number.POSITIVE_INFINITY)
      )
  }
}
