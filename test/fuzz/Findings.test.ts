// Every check of the fuzzer finds the fault that it is there for.

import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "../../fuzz/Campaign.ts"
import { checks, limits } from "../../fuzz/Judge.ts"
import { type Planted, start } from "./PlantedTarget.ts"

/** What is found of a service with this fault. */
const seenOf = (planted: Planted, { hang_ms = 5_000, requests = 200, seed = 1 } = {}) =>
  Effect.flatMap(start(planted), (target) =>
    run(target, {
      seed,
      batchesBefore: 0,
      requests,
      until_ms: Number.POSITIVE_INFINITY,
      bytesMax: 2_000,
      limits: { ...limits, hang_ms },
      settleEach: "1 millis",
      progress: () => {}
    })
  )

const onOthers = (planted: NonNullable<Planted["answer"]>): Planted => ({
  answer: (seen) => seen.path === "/things" && planted(seen)
})

/** The faults, by the check that must find each. */
const faults: Readonly<Record<(typeof checks)[number], ReadonlyArray<readonly [string, Planted]>>> = {
  status: [
    [
      "an answer 500, which the contract lists",
      onOthers(({ body, refuse }) => body.includes("[[") && (refuse(500), true))
    ],
    [
      "a status that the contract does not list",
      onOthers(({ isGood, refuse }) => !isGood && (refuse(418), true))
    ]
  ],
  schema: [
    [
      "an answer with a field too many",
      onOthers(({ isGood, response }) => {
        if (isGood) response.writeHead(201, { "content-type": "application/json" }).end('{"id":1,"a":1}')
        return isGood
      })
    ],
    [
      "a problem without its parts",
      onOthers(({ isGood, response }) => {
        if (!isGood) response.writeHead(400, { "content-type": "application/problem+json" }).end("{}")
        return !isGood
      })
    ],
    [
      "an answer without its request's id",
      onOthers(({ isGood, response }) => {
        if (isGood) response.removeHeader("x-request-id")
        return false
      })
    ]
  ],
  hang: [["a request that is never answered", onOthers(({ body }) => body.includes("[["))]],
  size: [
    [
      "a refusal that quotes what it was sent",
      onOthers(({ isGood, refuse }) => !isGood && (refuse(400, "No.".repeat(30_000)), true))
    ]
  ],
  "no answer": [
    [
      "a connection that is cut",
      onOthers(({ isGood, request }) => {
        if (isGood) request.socket.destroy()
        return isGood
      })
    ]
  ],
  wire: [
    [
      "two answers to one request",
      {
        answer: ({ request, response }) => {
          if (request.method !== "GET" || request.url !== "/health/live") return false
          const twice = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".repeat(2_000)
          response.socket!.write(twice)
          return true
        }
      }
    ],
    [
      "what is no answer",
      {
        answer: ({ request, response }) => {
          if (request.method !== "GET") return false
          response.socket!.end("SSH-2.0-something")
          return true
        }
      }
    ]
  ],
  stored: [
    [
      "something that is stored although it is refused",
      onOthers(({ isGood, store }) => {
        if (!isGood) store()
        return false
      })
    ]
  ],
  stall: [
    [
      "an event loop that is held up",
      {
        target: {
          lap: Effect.succeed({ count: 1, failures: 0, median_ms: 1, wait_ms: 300, busy_ms: 300 })
        }
      }
    ]
  ],
  memory: [
    [
      "memory that grows",
      (() => {
        let rss_MB = 100
        return { target: { rss_MB: () => (rss_MB += 1) } }
      })()
    ]
  ],
  ended: [
    [
      "a program that ends",
      (() => {
        let sent = 0
        let end: string | null = null
        return {
          answer: () => {
            if (++sent === 20) end = "was killed by SIGABRT"
            return false
          },
          target: { ended: () => end, revive: Effect.sync(() => void (end = null)) }
        }
      })()
    ]
  ],
  log: [
    [
      "a line of the log that tells of something broken",
      (() => {
        let asked = 0
        return { target: { troubles: () => (++asked === 20 ? ["A request broke: TypeError"] : []) } }
      })()
    ]
  ],
  unavailable: [
    ["a service that is often not available", onOthers(({ isGood, refuse }) => isGood && (refuse(503), true))]
  ]
}

// Hundreds of requests each, which take as long as the machine needs.
describe("the fuzzer", { timeout: 120_000 }, () => {
  for (const check of checks) {
    for (const [name, planted] of faults[check]) {
      it.scopedLive(`finds ${name}`, () =>
        Effect.gen(function* () {
          const { findings } = yield* seenOf(planted, check === "hang" ? { hang_ms: 400 } : {})
          expect(findings.map((finding) => finding.check)).toContain(check)
          // Nothing else is wrong with it, so nothing else is found.
          expect([...new Set(findings.map((finding) => finding.check))]).toEqual([check])
        })
      )
    }
  }

  it.scopedLive("finds nothing wrong with a service that is well", () =>
    Effect.gen(function* () {
      const { cases, findings, statuses } = yield* seenOf({}, { requests: 520 })
      expect(findings).toEqual([])
      expect(cases).toBe(520)
      expect(Object.keys(statuses["things.add"]!)).toEqual(expect.arrayContaining(["201", "400"]))
    })
  )

  it.scopedLive("does not blame a refusal for what a request stores late that was given up", () =>
    Effect.gen(function* () {
      let given = 0
      let left = 0
      const late = onOthers(({ isGood, refuse, store }) => {
        if (isGood && given++ === 0) {
          left = 5
          refuse(503)
          return true
        }
        if (!isGood && left-- > 0) store()
        return false
      })
      const { findings, statuses } = yield* seenOf(late)
      expect(statuses["things.add"]!["503"]).toBe(1)
      expect(findings).toEqual([])
    })
  )

  it.scopedLive("shrinks a case, and names the seed that brings it again", () =>
    Effect.gen(function* () {
      const many = onOthers(({ body, refuse }) => /"tags":\[([^,[\]]*,){3}/.test(body) && (refuse(500), true))
      const first = yield* seenOf(many, { requests: 500 })
      const [finding] = first.findings
      expect(finding).toMatchObject({ check: "status", what: "it says 500", operation: "things.add" })
      // Four of them, of up to a thousand; no fewer do it.
      expect(finding!.case).toMatch(/"count":4\b|"tags":\[[^,[\]]*(,[^,[\]]*){3}\]/)
      const again = yield* seenOf(many, { requests: 500, seed: finding!.seed })
      expect(again.findings[0]).toEqual(finding)
    })
  )
})
