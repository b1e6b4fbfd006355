import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { drawChallenge } from "../../src/webhooks/WebhookMessages.ts"
import { afterFailure, challengeAttemptsMax, isProof } from "../../src/webhooks/WebhookVerification.ts"

describe("WebhookVerification", () => {
  const asked = Effect.runSync(drawChallenge(0))
  const { challenge } = (JSON.parse(asked.body) as { readonly data: { readonly challenge: string } }).data

  it.each([
    ["the challenge", challenge],
    ["the challenge in a line", `  ${challenge}\r\n`],
    ["an object that has it", `{"challenge":"${challenge}"}`],
    ["an object that has it among other fields", ` { "status": "ok", "challenge": "${challenge}" } `]
  ])("takes %s for a proof", (_, answer) => {
    expect(isProof(asked, answer)).toBe(true)
  })

  it.each([
    ["nothing", ""],
    ["the message itself", asked.body],
    ["the challenge within a text", `You sent ${challenge}.`],
    ["the challenge twice", `${challenge} ${challenge}`],
    ["a part of it", challenge.slice(0, -1)],
    ["it in capitals", challenge.toUpperCase()],
    ["it as a JSON text", `"${challenge}"`],
    ["it within an object in the object", `{"data":{"challenge":"${challenge}"}}`],
    ["it in a list", `["${challenge}"]`],
    ["an object with another one", `{"challenge":"${"0".repeat(32)}"}`],
    ["an object that is cut off", `{"challenge":"${challenge}"`],
    ["a page", `<html><body>${challenge}</body></html>`]
  ])("does not take %s for a proof", (_, answer) => {
    expect(isProof(asked, answer)).toBe(false)
  })

  it("draws a challenge that is another one each time", () => {
    expect(challenge).toMatch(/^[0-9a-f]{32}$/)
    expect(Effect.runSync(drawChallenge(0)).body).not.toBe(asked.body)
  })

  it("tries a challenge 5 times, within 37 minutes, each time after a longer wait", () => {
    const waits = Array.from({ length: challengeAttemptsMax }, (_, index) =>
      afterFailure({ attempt: index + 1 }, "It answered 500.")
    )
    expect(waits.map(({ retryIn_ms }) => retryIn_ms)).toEqual([10_000, 60_000, 300_000, 1_800_000, null])
    expect(afterFailure({ attempt: 99 }, "It answered 500.")).toEqual({
      reason: "It answered 500.",
      retryIn_ms: null,
      pause_ms: 0
    })
  })
})
