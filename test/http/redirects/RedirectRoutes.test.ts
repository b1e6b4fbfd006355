import { expect, it } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import { describe } from "vitest"
import { Quotas } from "../../../src/accounts/Quotas.ts"
import { Links } from "../../../src/actors/links/Links.ts"
import { Visits } from "../../../src/visits/Visits.ts"
import { makeFast } from "../../../src/http/redirects/RedirectRoutes.ts"
import type { Request } from "../../../src/http/exchange/Request.ts"
import type { Link } from "../../../src/model/Link.ts"
import { KeyedHash } from "../../../src/secrets/KeyedHash.ts"
import { plainRow } from "../../support/Plain.ts"
import { testHash } from "../../support/TestHash.ts"

const url = "https://example.com/?a=b#c"

describe("a redirect of a link that is read", () => {
  const request: Request = {
    method: "GET",
    url: "/k",
    headers: {},
    remoteAddress: Option.none(),
    readBytes: () => {}
  }

  const link: Link = { ...plainRow, url, key: "k", custom: false, createdAt: 1, updatedAt: 1 }

  /** What a request comes to whose link is read while it waits, or when nobody waits for it any more. */
  const redirected = (isOver: boolean, found: Link | null = link) =>
    Effect.gen(function* () {
      const events: Array<string> = []
      let tell: (found: Exit.Exit<Link | null>) => void = () => {}
      const { answerThen } = yield* makeFast({
        redirect: () => Effect.die("not asked"),
        reserveNow: () => ({
          isAllowed: true,
          keep: () => void events.push("counted"),
          giveBack: () => void events.push("not counted")
        }),
        mayBeLong: () => false
      }).pipe(
        Effect.withTracerEnabled(false),
        Effect.provideService(Links, {
          findToRedirectThen: (_: string, done: typeof tell) => {
            tell = done
          },
          findNow: () => undefined,
          staleNow: () => undefined
        } as unknown as typeof Links.Service),
        Effect.provideService(Quotas, {
          redirectNow: () => null
        } as unknown as typeof Quotas.Service),
        Effect.provideService(KeyedHash, testHash),
        Effect.provideService(Visits, { record: () => events.push("visit") })
      )
      const isTaken = answerThen(
        request,
        { key: "k" },
        {
          answer: ({ status }) => events.push(`answer ${status}`),
          instead: () => events.push("instead"),
          isOver: () => isOver
        }
      )
      tell(Exit.succeed(found))
      return { isTaken, events }
    })

  it.effect("is answered without an effect, and is a visit", () =>
    Effect.map(redirected(false), (came) =>
      expect(came).toEqual({ isTaken: true, events: ["not counted", "visit", "answer 302"] })
    )
  )

  it.effect("is no visit when its client has gone, or was told that it takes too long", () =>
    Effect.map(redirected(true), (came) => expect(came).toEqual({ isTaken: true, events: ["not counted"] }))
  )

  it.effect("counts as a look-up that led nowhere where there is none, also when its client has gone", () =>
    Effect.gen(function* () {
      expect(yield* redirected(false, null)).toEqual({ isTaken: true, events: ["counted", "instead"] })
      expect(yield* redirected(true, null)).toEqual({ isTaken: true, events: ["counted"] })
    })
  )
})
