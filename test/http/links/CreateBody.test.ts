import { expect } from "@effect/vitest"
import { Effect } from "effect"
import type { Request } from "../../support/http/HttpClient.ts"
import { refuses } from "../../support/http/Problems.ts"
import * as RawConnection from "../../support/http/RawConnection.ts"
import { create, TestService, withService } from "../../support/TestService.ts"

const url = "https://example.com/"

const post = (body: NonNullable<Request["body"]>, headers: NonNullable<Request["headers"]>) =>
  Effect.flatMap(TestService, (service) =>
    service.send({ method: "POST", path: "/api/v1/links", headers, body })
  )

const json = { "content-type": "application/json" }

withService("a create's fields:", {}, (it) => {
  // Fields of the answer, and names that objects inherit.
  const unknown: Record<string, unknown> = {
    key: "abcdefg",
    custom: true,
    visits: { total: 0 },
    URL: url,
    "": 1,
    constructor: 1,
    toString: null
  }
  for (const [name, value] of Object.entries(unknown)) {
    it.effect(`"${name}" is not known`, () =>
      refuses(create({ url, [name]: value }), "invalid-request", [name, /^is not a known field$/])
    )
  }

  it.effect(`"__proto__" is not known`, () =>
    refuses(create(`{"url":"${url}","__proto__":{"alias":"polluted"}}`), "invalid-request", [
      "__proto__",
      "is not a known field"
    ])
  )

  it.effect("the target is required", () => refuses(create({}), "invalid-request", ["url", /^is required$/]))

  for (const name of ["url", "alias", "expiresAt", "expiresIn", "validSince", "title"]) {
    for (const value of [null, true, 1, [], [url], {}, { toString: 1 }]) {
      it.effect(`"${name}" is text, not ${JSON.stringify(value)}`, () =>
        refuses(create({ url, [name]: value }), "invalid-request", [name, /^must be a string$/])
      )
    }
  }

  it.effect("every fault is listed, in the order of the fields", () =>
    refuses(
      create({ colour: "x", alias: "a b", expiresIn: 7 }),
      "invalid-request",
      ["colour", "is not a known field"],
      ["url", "is required"],
      ["alias", "may contain A-Z, a-z, 0-9, - and _ only"],
      ["expiresIn", "must be a string"]
    )
  )
})

withService("a create's body:", {}, (it) => {
  const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth)

  const notObjects = ["null", "true", "1", '"text"', "[]", `[{"url":"${url}"}]`, deep(32)]
  for (const body of notObjects) {
    it.effect(`${body.slice(0, 30)} is not an object`, () =>
      refuses(create(body), "invalid-request", ["", "must be a JSON object"])
    )
  }

  for (const [what, nested] of [
    ["a known field", `{"url":${deep(30_000)}}`],
    ["an unknown field", `{"url":"${url}","a":${deep(30_000)}}`],
    ["an object", `{"url":${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}}`],
    ["a list", deep(30_000)],
    ["a list without an end", "[".repeat(30_000)]
  ] as const) {
    it.effect(`${what} may not be nested deeply`, () =>
      refuses(create(nested), "invalid-request", ["", "may be nested 32 levels deep at most"])
    )
  }
  it.effect("a known field may not be nested at all", () =>
    refuses(create(`{"url":${deep(30)}}`), "invalid-request", ["url", /^must be a string$/])
  )
  it.effect("an unknown field may not be nested either", () =>
    refuses(create(`{"url":"${url}","a":${deep(30)}}`), "invalid-request", ["a", "is not a known"])
  )

  const malformed: Record<string, string> = {
    "no characters": "",
    "white space alone": " \n",
    "a brace alone": "{",
    "no end": `{"url":"${url}"`,
    "no end of a text": `{"url":"${url}`,
    "a comma too many": `{"url":"${url}",}`,
    "single quotes": `{'url':'${url}'}`,
    "names without quotes": `{url:"${url}"}`,
    "a comment": `{"url":"${url}"} // a link`,
    "two values": `{"url":"${url}"}{"url":"${url}"}`,
    "a form's fields": `url=${encodeURIComponent(url)}`,
    NaN: "NaN",
    "a line feed inside a text": `{"url":"https://example.com/\n"}`,
    "an unfinished escape": `{"url":"https://example.com/\\u12"}`,
    "30 open brackets": "[".repeat(30)
  }
  for (const [what, body] of Object.entries(malformed)) {
    it.effect(`${what}: that is not JSON`, () =>
      refuses(create(body), "invalid-request", ["", "is not valid JSON"])
    )
  }

  const broken: Record<string, ReadonlyArray<number>> = {
    "a byte that UTF-8 does not have": [0xff],
    "a continuation byte alone": [0x80],
    "a sequence that does not end": [0xc3],
    "an overlong slash": [0xc0, 0xaf],
    "an encoded surrogate": [0xed, 0xa0, 0x80],
    "a character above U+10FFFF": [0xf5, 0x80, 0x80, 0x80]
  }
  for (const [what, bytes] of Object.entries(broken)) {
    it.effect(`${what}: that is not UTF-8`, () =>
      refuses(
        create(Buffer.concat([Buffer.from(`{"url":"${url}`), Uint8Array.from(bytes), Buffer.from(`"}`)])),
        "invalid-request",
        ["", "is not valid UTF-8"]
      )
    )
  }
  it.effect("UTF-16: that is not UTF-8", () =>
    refuses(create(Buffer.from(`\ufeff{"url":"${url}"}`, "utf16le")), "invalid-request", [
      "",
      "not valid UTF-8"
    ])
  )

  it.effect("half of it, and then no client any more, stores nothing and harms nobody", () =>
    Effect.gen(function* () {
      const service = yield* TestService
      const before = yield* service.stored
      yield* Effect.scoped(
        Effect.gen(function* () {
          const connection = yield* RawConnection.open(service.port)
          const head = "POST /api/v1/links HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
          yield* connection.write(`${head}Content-Length: 30\r\nExpect: 100-continue\r\n\r\n`)
          yield* connection.heard(/^HTTP\/1.1 100 Continue\r\n\r\n$/)
          yield* connection.write(`{"url":"${url}"`)
        })
      )
      expect((yield* create({ url })).status).toBe(201)
      expect(yield* service.stored).toBe(before + 1)
    })
  )
})

withService("a create's content type", {}, (it) => {
  const body = JSON.stringify({ url })

  const wrong: Record<string, string | undefined> = {
    "is missing": undefined,
    "is empty": "",
    "is plain text": "text/plain",
    "is a form": "application/x-www-form-urlencoded",
    "is multipart": "multipart/form-data; boundary=a",
    "is another JSON": "application/merge-patch+json",
    "only begins with JSON": "application/jsonp",
    "only ends with JSON": "x-application/json",
    "has charset latin1": "application/json; charset=iso-8859-1",
    "has charset utf-16": "application/json; charset=utf-16",
    "has two charsets": "application/json; charset=utf-8; charset=latin1"
  }
  for (const [what, type] of Object.entries(wrong)) {
    it.effect(`may not be one that ${what}`, () =>
      refuses(post(body, type === undefined ? {} : { "content-type": type }), "unsupported-media-type")
    )
  }

  for (const type of [
    "application/json",
    "application/json; charset=utf-8",
    'Application/JSON;charset="UTF-8"'
  ]) {
    it.effect(`may be ${type}`, () =>
      Effect.map(post(body, { "content-type": type }), ({ status }) => expect(status).toBe(201))
    )
  }
})

withService("a create's size", {}, (it) => {
  const filled = (bytes: number) => Buffer.from(`{"url":"${url}"}`.padEnd(bytes))
  const cut = (body: Buffer) =>
    Array.from({ length: Math.ceil(body.length / 8_192) }, (_, index) =>
      body.subarray(index * 8_192, (index + 1) * 8_192)
    )
  const viaFetch = (body: () => NonNullable<RequestInit["body"]>) =>
    Effect.gen(function* () {
      const { port } = yield* TestService
      return yield* Effect.promise(async () => {
        const response = await fetch(`http://127.0.0.1:${port}/api/v1/links`, {
          method: "POST",
          headers: json,
          body: body(),
          duplex: "half"
        })
        const headers = Object.fromEntries(response.headers)
        return { status: response.status, headers, rawHeaders: [], text: await response.text() }
      })
    })

  it.effect("may be 64 KiB", () =>
    Effect.gen(function* () {
      expect((yield* create(filled(65_536))).status).toBe(201)
      expect((yield* post(cut(filled(65_536)), json)).status).toBe(201)
    })
  )

  for (const bytes of [65_537, 1_000_000, 20_000_000]) {
    const size = `${bytes.toLocaleString("en")} bytes`
    it.effect(`may not be ${size}, and the client hears of it`, () =>
      refuses(post(filled(bytes), json), "payload-too-large")
    )
    it.effect(`may not be ${size} in chunks, and the client hears of it`, () =>
      refuses(post(cut(filled(bytes)), json), "payload-too-large")
    )
    it.effect(`may not be ${size}, and fetch hears of it`, () =>
      refuses(
        viaFetch(() => filled(bytes)),
        "payload-too-large"
      )
    )
    it.effect(`may not be ${size} in chunks, and fetch hears of it`, () =>
      refuses(
        viaFetch(() => ReadableStream.from(cut(filled(bytes)))),
        "payload-too-large"
      )
    )
  }

  it.effect("may not be too large, and a client that goes on sending can use its connection again", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const service = yield* TestService
        const connection = yield* RawConnection.open(service.port)
        yield* connection.write(
          "POST /api/v1/links HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n"
        )
        const answer = yield* connection.heard(/\r\n\r\n\{.*\}$/)
        expect(answer).toMatch(/^HTTP\/1.1 413 /)
        yield* connection.write(Buffer.alloc(2_000_000, " "))
        yield* connection.write("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n")
        expect(yield* connection.heard(/\r\n\r\n\{.*\}$/)).toMatch(/^HTTP\/1.1 200 /)
      })
    )
  )
})
