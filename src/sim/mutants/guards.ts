import { Effect } from "effect"
import type { Link } from "../../model/Link.ts"
import { begin, type GuardedCreates } from "../../storage/links/GuardedCreates.ts"
import type { SimOptions } from "../cli/Options.ts"
import { s_us } from "../world/Time.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import { later, type Mutant } from "./Mutant.ts"
import type { Ports } from "./Mutation.ts"

type Guarded = typeof GuardedCreates.Service

/** How long a node of `reuse-from-a-cache` believes what it found. */
const believed_us = 10 * s_us

/** A mutant of the guards at a process's end of the connection. */
const atPort =
  (mutate: (ports: Ports, process: VirtualProcess) => Partial<Guarded>): Mutant["make"] =>
  () => ({
    ports: (ports, process) => ({ guarded: { ...ports.guarded, ...mutate(ports, process) } })
  })

/** Clients who repeat much of what they ask for. */
const keyed: Mutant["options"] = (options) => ({
  ...options,
  workload: { ...options.workload, withKey: 0.4, reused: 0 }
})

/** Clients who want the same links. */
const reusing = (options: SimOptions): SimOptions => ({
  ...options,
  workload: { ...options.workload, withKey: 0.1, reused: 0.4, deleted: 0.15 }
})

/** What can be broken about creates that are to be made once. */
export const guards: ReadonlyArray<Mutant> = [
  {
    name: "guard-dropped",
    text: "A guard goes when its link is bound, so that a repeat finds none.",
    promise: "C7",
    checker: "idempotency",
    options: keyed,
    make: () => ({
      database: ({ guarded }, { guards: rows }) => ({
        guarded: {
          ...guarded,
          bindMany: (links) =>
            Effect.tap(guarded.bindMany(links), (outcomes) =>
              links.forEach((link, index) => {
                if (outcomes[index] === "bound") link.guards.forEach(({ name }) => rows.delete(name))
              })
            )
        }
      })
    })
  },
  {
    name: "taken-alias-not-kept",
    text: "That an alias is taken is told, and not kept for repeats.",
    promise: "C7",
    checker: "idempotency",
    options: (options) => {
      const { workload, ...others } = keyed!(options)
      return { ...others, workload: { ...workload, withAlias: 0.8 } }
    },
    make: () => ({
      ports: ({ guarded }) => ({
        guarded: { ...guarded, settleMany: (batch) => Effect.succeed(batch.map(() => true)) }
      })
    })
  },
  {
    name: "answers-kept-half-as-long",
    text: "A repeat is given the first answer for half a day.",
    promise: "C7",
    checker: "idempotency",
    options: (options) => ({ ...keyed!(options), answersKept_s: 12 }),
    make: atPort(({ guarded }) => ({
      beginMany: (beginnings) =>
        guarded.beginMany(beginnings.map((one) => ({ ...one, keep_ms: one.keep_ms / 2 })))
    }))
  },
  {
    name: "answers-swept-early",
    text: "What is known of creates with a key is swept half a day after they began.",
    promise: "C7",
    checker: "idempotency",
    options: (options) => ({ ...keyed!(options), answersKept_s: 12, quarantine_s: 4, staleRedirects_s: 0 }),
    make: atPort(({ guarded }) => ({ drop: (keep_ms, most) => guarded.drop(keep_ms / 4, most) }))
  },
  {
    name: "guard-in-two-steps",
    text: "A link is bound at once, and its guard settled half a second later.",
    promise: "C7",
    checker: "idempotency",
    options: keyed,
    make: atPort(({ guarded, links }, process) => ({
      bindMany: (batch) =>
        Effect.map(links.insertMany(batch.map(({ link }) => link)), (bound) =>
          bound.map((isBound) => (isBound ? ("bound" as const) : ("taken" as const)))
        ).pipe(
          Effect.zipLeft(
            later(
              process,
              500,
              Effect.forEach(batch, ({ answer, guards: held }) =>
                guarded.settleMany(held.map((guard) => ({ ...guard, answer })))
              )
            )
          )
        )
    }))
  },
  {
    name: "guard-of-anybody",
    text: "A link is bound whoever holds its guard by now.",
    promise: "C7",
    checker: "idempotency",
    options: keyed,
    make: () => ({
      database: ({ guarded }, { guards: rows }) => ({
        guarded: {
          ...guarded,
          beginMany: (beginnings) =>
            guarded.beginMany(beginnings.map((beginning) => ({ ...beginning, lease_ms: 1_000 }))),
          bindMany: (links) =>
            guarded.bindMany(
              links.map((link) => ({
                ...link,
                guards: link.guards.map(({ name, token }) => {
                  const row = rows.get(name)
                  if (row !== undefined) rows.set(name, { ...row, token, key: null, answer: null })
                  return { name, token }
                })
              }))
            )
        }
      })
    })
  },
  {
    name: "guard-without-fingerprint",
    text: "A repeat with another body is given the first answer.",
    promise: "C7",
    checker: "idempotency",
    options: keyed,
    make: atPort(({ guarded }) => ({
      beginMany: (beginnings) =>
        Effect.map(guarded.beginMany(beginnings), (states) =>
          states.map((state, index) =>
            state._tag === "Begun" ? state : { ...state, fingerprint: beginnings[index]!.fingerprint }
          )
        )
    }))
  },
  {
    name: "reuse-without-guard",
    text: "Whoever finds no link to reuse makes one, whether or not somebody else is at it.",
    promise: "C7",
    checker: "reused links",
    options: reusing,
    make: atPort(({ guarded, links }) => {
      const isReuse = (name: string) => name.startsWith("reuse:")
      return {
        beginMany: (beginnings) =>
          Effect.forEach(beginnings, (beginning) =>
            isReuse(beginning.name) ? Effect.succeed({ _tag: "Begun" }) : begin(guarded, beginning)
          ),
        bindMany: (batch) =>
          Effect.forEach(batch, (one) => {
            const held = one.guards.filter(({ name }) => !isReuse(name))
            return held.length > 0
              ? Effect.map(guarded.bindMany([{ ...one, guards: held }]), ([outcome]) => outcome!)
              : Effect.map(links.insertMany([one.link]), ([isBound]) =>
                  isBound === true ? ("bound" as const) : ("taken" as const)
                )
          })
      }
    })
  },
  {
    name: "reuse-held-for-a-taken-alias",
    text: "Whoever could not make the link of a URL, since its alias was taken, keeps others from making it.",
    promise: "C8",
    checker: "liveness",
    options: (options) => {
      const { workload, ...others } = reusing(options)
      return { ...others, workload: { ...workload, withAlias: 0.5 } }
    },
    make: atPort(({ guarded }) => ({
      abandonMany: (all) => {
        const isReuse = all.some(({ name }) => name.startsWith("reuse:"))
        return isReuse ? Effect.succeed(all.map(() => false)) : guarded.abandonMany(all)
      }
    }))
  },
  {
    name: "reuse-from-a-cache",
    text: "A node remembers for 10 s which link of a URL it found.",
    promise: "C7",
    checker: "reused links",
    options: reusing,
    make: () => ({
      ports: ({ guarded }, { world }) => {
        const found = new Map<string, { readonly at_us: number; readonly link: Link }>()
        return {
          guarded: {
            ...guarded,
            findByUrl: (owner, url, now) =>
              Effect.suspend(() => {
                const known = found.get(url)
                if (known !== undefined && world.now_us - known.at_us < believed_us)
                  return Effect.succeed(known.link)
                return Effect.tap(guarded.findByUrl(owner, url, now), (link) => {
                  if (link !== null) found.set(url, { at_us: world.now_us, link })
                })
              })
          }
        }
      }
    })
  }
]
