import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { freePort } from "../support/FreePort.ts"
import { examplesOf, filesOf, isAsShown, shell, withoutExamples } from "./Console.ts"
import { startAlone } from "./Program.ts"

const documents = ["README.md", "docs/api.md"]

describe("what an example shows", () => {
  it("is all of an output but for white space, where … stands for anything", () => {
    expect(isAsShown("a b\n", "ab")).toBe(true)
    expect(isAsShown("a…c…", "abbc")).toBe(true)
    expect(isAsShown("…a…", "a")).toBe(true)
    expect(isAsShown("a", "ab")).toBe(false)
    expect(isAsShown("a…b…c", "acb")).toBe(false)
    expect(isAsShown("a…b…b", "ab")).toBe(false)
    expect(isAsShown("", "a")).toBe(false)
  })
})

for (const document of documents) {
  describe(`the examples of ${document}`, () => {
    const markdown = readFileSync(new URL(`../../${document}`, import.meta.url), "utf8")

    it.scopedLive(
      "show what really comes, one after the other, from a service that was just started",
      () =>
        Effect.gen(function* () {
          const { port, program } = yield* startAlone({ ALLOW_PRIVATE_WEBHOOKS: "true" })
          const [, adminKey = ""] = yield* program.printed(/^Admin key, shown this once: (lm_\S+)$/m)
          const run = yield* shell(`http://localhost:${port}`, {
            known: { lm: adminKey },
            // The port of the receiver that a document has.
            instead: { "9100": String(yield* freePort) },
            files: filesOf(markdown)
          })
          const examples = examplesOf(markdown)
          expect(examples.length).toBeGreaterThan(5)
          for (const { command, shown } of examples) {
            const { output, status } = yield* run(command)
            expect(status, `${command}\n${output}`).toBe(0)
            if (isAsShown(shown, output)) continue
            // So that the difference can be read.
            expect(output, command).toBe(shown)
          }
        }),
      120_000
    )

    it("are all where they are run", () => {
      expect(withoutExamples(markdown)).not.toMatch(/^.*\bcurl .*:\/\/|^ *\$ curl/m)
    })
  })
}
