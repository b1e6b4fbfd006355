import { Exit } from "effect"
import { expect, it } from "vitest"
import { endLookUp } from "../../../src/http/redirects/LookUps.ts"
import { plainRow } from "../../support/Plain.ts"

it("a look-up that led nowhere counts; one that found a link, failed or was given up does not", () => {
  const became = (found: Parameters<typeof endLookUp>[1]) => {
    const done: Array<string> = []
    endLookUp({ keep: () => done.push("kept"), giveBack: () => done.push("given back") } as never, found)
    return done
  }
  expect(became(Exit.succeed(null))).toEqual(["kept"])
  expect(became(Exit.succeed({ ...plainRow, key: "abc", custom: false } as never))).toEqual(["given back"])
  expect(became(Exit.fail("unavailable"))).toEqual(["given back"])
  expect(became(Exit.interrupt(undefined as never))).toEqual(["given back"])
})
