// A DNS that says what the tests like stands in for the real one, since no public name leads here.

import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import dns, { type LookupAddress, type LookupAllOptions } from "node:dns"
import { syncBuiltinESMExports } from "node:module"
import { afterAll, beforeAll, describe } from "vitest"
import { lookupPublic } from "../../src/webhooks/PublicLookup.ts"
import * as Sender from "../../src/webhooks/WebhookSender.ts"
import { WebhookSender } from "../../src/webhooks/WebhookSender.ts"
import { receiver } from "../support/http/Receiver.ts"

const names: Record<string, ReadonlyArray<LookupAddress>> = {
  "inside.example": [{ address: "127.0.0.1", family: 4 }],
  "inside6.example": [
    { address: "::1", family: 6 },
    { address: "fe80::1%eth0", family: 6 },
    { address: "::ffff:10.0.0.1", family: 6 },
    { address: "::7f00:1", family: 6 },
    { address: "64:ff9b::a00:1", family: 6 },
    { address: "2002:7f00:1::", family: 6 },
    { address: "fd00:ec2::254", family: 6 }
  ],
  "platform.example": [
    { address: "168.63.129.16", family: 4 },
    { address: "100.100.100.200", family: 4 }
  ],
  "both.example": [
    { address: "192.168.0.1", family: 4 },
    { address: "93.184.215.14", family: 4 },
    { address: "2606:2800::1", family: 6 }
  ]
}

const theirs = dns.lookup

const ours = (
  name: string,
  options: LookupAllOptions,
  callback: (error: Error | null, found: Array<LookupAddress>) => void
) => {
  // What listens looks its own address up, too.
  if (!name.endsWith(".example")) return theirs(name, options, callback)
  const found = names[name]
  if (found === undefined) callback(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }), [])
  else callback(null, [...found])
}

// Whoever has imported it sees the other one, too: files of tests share a process.
const use = (lookup: unknown) => {
  Object.assign(dns, { lookup })
  syncBuiltinESMExports()
}
beforeAll(() => use(ours))
afterAll(() => use(theirs))

const looked = (name: string, all: boolean) =>
  new Promise<unknown>((resolve) =>
    lookupPublic(name, { all }, (error, address, family) => resolve(error?.code ?? [address, family]))
  )

describe("lookupPublic", () => {
  it("gives a name's public addresses alone, all or the first", async () => {
    const [, first, second] = names["both.example"]!
    expect(await looked("both.example", true)).toEqual([[first, second], undefined])
    expect(await looked("both.example", false)).toEqual(["93.184.215.14", 4])
  })

  it("fails where there are none, or none at all", async () => {
    for (const all of [true, false]) {
      expect(await looked("inside.example", all)).toBe("ENOTPUBLIC")
      expect(await looked("inside6.example", all)).toBe("ENOTPUBLIC")
      expect(await looked("platform.example", all)).toBe("ENOTPUBLIC")
      expect(await looked("nowhere.example", all)).toBe("ENOTFOUND")
    }
  })
})

/** Why a delivery to this address fails. */
const refusal = (url: string, allowPrivate: boolean) =>
  Effect.gen(function* () {
    const sender = yield* WebhookSender
    const delivery = {
      id: "msg_1",
      webhookId: "whk_1",
      owner: "usr_1",
      host: new URL(url).hostname,
      event: "link.created",
      body: "{}",
      url,
      secret: "whsec_",
      attempt: 1,
      failures: 0,
      lease: ""
    } as const
    return (yield* Effect.flip(sender.send(delivery))).reason
  }).pipe(Effect.provide(Sender.layer({ allowPrivate })))

describe("WebhookSender", () => {
  it.scopedLive("connects to no public name that leads to a private address", () =>
    Effect.gen(function* () {
      const { port, received } = yield* receiver
      for (const scheme of ["http", "https"]) {
        const reason = yield* refusal(`${scheme}://inside.example:${port}/`, false)
        expect(reason).toBe("It leads to a private network.")
      }
      expect(received).toEqual([])
    })
  )

  it.live("tells when there is no such name", () =>
    Effect.gen(function* () {
      for (const allowPrivate of [true, false]) {
        const reason = yield* refusal("http://nowhere.example/", allowPrivate)
        expect(reason).toBe("The request could not be sent: ENOTFOUND.")
      }
    })
  )
})
