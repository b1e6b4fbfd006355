import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { rmSync } from "node:fs"
import { afterAll } from "vitest"
import { newKey, newSession } from "../../support/samples/Account.ts"
import type { Answer, NoAnswer, Request } from "../../support/http/HttpClient.ts"
import { asAdmin, create, get, startOfTests_ms, TestService, withService } from "../../support/TestService.ts"
import { makeWebFolder } from "../../support/http/WebFolder.ts"

const url = "https://example.com/a?b=c"

/** What browsers send when they open an address. */
const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

type Sent = Effect.Effect<Answer, NoAnswer, TestService>

const send = (request: Request) => Effect.flatMap(TestService, (service) => service.send(request))

const form = "application/x-www-form-urlencoded"

const post = (path: string, accept: string, body: string, headers: Request["headers"] = {}) =>
  send({ method: "POST", path, headers: { accept, "content-type": form, ...headers }, body })

/** Sends a request so often that the last one is refused. */
const drained = (request: Sent, times: number) =>
  Effect.zipRight(Effect.replicateEffect(request, times, { concurrency: 16 }), request)

/** Makes one link that is in some state, once for all tests. */
const made = (alias: string, fields: object = {}) => Effect.asVoid(create({ url, alias, ...fields }))

const away = (sent: Sent): Sent =>
  Effect.flatMap(TestService, ({ setFault }) =>
    setFault("links", "fails").pipe(Effect.zipRight(sent), Effect.ensuring(setFault("links", "none")))
  )

/** A link whose owner has one redirect a day. */
const limited = (accept: string) =>
  Effect.gen(function* () {
    const { headers } = yield* newSession
    const key = yield* newKey({ scopes: ["links:write"], redirectsPerDay: 1 }, headers)
    const alias = `limited-${accept.length}`
    yield* create({ url, alias }, key.headers)
    return yield* drained(get(`/${alias}`, { accept }), 1)
  })

interface Case {
  /** By what a client accepts. */
  readonly sent: (accept: string) => Sent
  readonly status: number
  readonly title: string
  readonly text: string
  /** Whether the page leads to itself. */
  readonly again?: true
  /** The JSON that programs get, and the names of its headers. */
  readonly json: string
  readonly headers?: ReadonlyArray<string>
}

const problem = (kind: string, title: string, status: number, detail: string) =>
  JSON.stringify({ type: `https://linkmint.dev/problems/${kind}`, title, status, detail })

const notFound = (detail: string) => problem("not-found", "There is no such thing here", 404, detail)
const limits = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "retry-after"]
const limitReached = (limit: number) =>
  problem(
    "rate-limited",
    "There were too many requests",
    429,
    `The limit of ${limit} is used up. Please try again later.`
  )
const gone = problem(
  "gone",
  "The link has ended",
  410,
  "This link has expired, was used up or deleted, or is blocked."
)
const ended = {
  status: 410,
  title: "Link ended",
  text: "This short link has expired, was used up or deleted, or is blocked.",
  json: gone,
  headers: ["vary"]
} as const
const noLink = {
  status: 404,
  title: "No such link",
  text: "This short link does not exist, or does not work yet.",
  json: notFound("There is no link with this key."),
  headers: ["vary"]
} as const
const noPage = {
  status: 404,
  title: "No such page",
  text: "There is nothing at this address.",
  json: notFound("There is nothing at this path for this method.")
} as const
const unavailable = {
  status: 503,
  title: "Not available now",
  text: "The service cannot answer at the moment. The link is not the reason.",
  again: true,
  json: problem(
    "unavailable",
    "The service cannot answer now",
    503,
    "The service cannot answer now. Please try again."
  ),
  headers: ["retry-after"]
} as const

const cases: Readonly<Record<string, Case>> = {
  "an unknown key": { ...noLink, sent: (accept) => get("/unknown", { accept }) },
  "what no key looks like": { ...noLink, sent: (accept) => get("/a%00b", { accept }) },
  "the preview of an unknown key": { ...noLink, sent: (accept) => get("/unknown+", { accept }) },
  "a link that has not begun": {
    ...noLink,
    sent: (accept) =>
      Effect.zipRight(made("early", { validSince: "2099-01-01T00:00:00Z" }), get("/early", { accept }))
  },
  "a deleted link": {
    ...ended,
    sent: (accept) =>
      Effect.zipRight(
        Effect.zipRight(made("deleted"), asAdmin("DELETE", "/api/v1/links/deleted")),
        get("/deleted", { accept })
      )
  },
  "an expired link": {
    ...ended,
    sent: (accept) =>
      Effect.gen(function* () {
        const { clock } = yield* TestService
        yield* made("expired", { expiresIn: "PT1S" })
        clock.set(startOfTests_ms + 2_000)
        return yield* Effect.ensuring(
          get("/expired", { accept }),
          Effect.sync(() => clock.set(startOfTests_ms))
        )
      })
  },
  "a used up link": {
    ...ended,
    sent: (accept) => Effect.zipRight(made("once", { maxVisits: 1 }), drained(get("/once", { accept }), 1))
  },
  "a client that asks for too many keys": {
    sent: (accept) =>
      drained(get("/unknown", { accept, "x-forwarded-for": `198.51.100.${accept.length}` }), 8),
    status: 429,
    title: "Too many requests",
    text: "Your network has asked for too many short links that do not exist.",
    again: true,
    json: limitReached(5),
    headers: [...limits, "vary"]
  },
  "a client that tries too many passwords": {
    sent: (accept) =>
      Effect.zipRight(
        made("tried", { password: "right" }),
        drained(
          post("/tried", accept, "password=wrong", { "x-forwarded-for": `203.0.113.${accept.length}` }),
          30
        )
      ),
    status: 429,
    title: "Too many tries",
    text: "Too many passwords were tried for this link, or from your network.",
    again: true,
    json: limitReached(30),
    headers: [...limits, "vary"]
  },
  "an owner who has no redirects left": {
    sent: limited,
    status: 429,
    title: "Limit reached",
    text: "The owner of this short link has reached their limit of visits for today.",
    json: limitReached(1),
    headers: [...limits, "vary"]
  },
  "a query that is too long to be passed on": {
    sent: (accept) =>
      Effect.zipRight(
        made("passed-on", { forwardQuery: true }),
        get(`/passed-on?${"q".repeat(8_000)}`, { accept })
      ),
    status: 414,
    title: "Address too long",
    text: "This short link passes on what follows its question mark, and that is too long.",
    json: problem(
      "uri-too-long",
      "The address is too long",
      414,
      "The target with this query string would have more than 8000 characters."
    ),
    headers: ["vary"]
  },
  "a form that is too large": {
    sent: (accept) =>
      Effect.zipRight(
        made("large", { password: "right" }),
        post("/large", accept, `password=${"x".repeat(70_000)}`)
      ),
    status: 413,
    title: "Not understood",
    text: "The service could not read what your browser has sent.",
    again: true,
    json: problem(
      "payload-too-large",
      "The request body is too large",
      413,
      "The body may have 65536 bytes at most."
    )
  },
  "what is no form": {
    sent: (accept) =>
      Effect.zipRight(
        made("no-form", { password: "right" }),
        post("/no-form", accept, "{}", { "content-type": "text/plain" })
      ),
    status: 415,
    title: "Not understood",
    text: "The service could not read what your browser has sent.",
    again: true,
    json: problem(
      "unsupported-media-type",
      "The request body has another type than it must have",
      415,
      `The request needs the header Content-Type: ${form}.`
    )
  },
  "a link that cannot be read": { ...unavailable, sent: (accept) => away(get("/not-at-hand", { accept })) },
  "a preview that cannot be made": { ...unavailable, sent: (accept) => away(get("/nowhere+", { accept })) },
  "an unknown path": { ...noPage, sent: (accept) => get("/a/b/c", { accept }) },
  "an address that is not to be decoded": { ...noPage, sent: (accept) => get("/%zz", { accept }) },
  "a method that is not for a link": {
    ...noPage,
    sent: (accept) => send({ method: "PUT", path: "/unknown", headers: { accept } })
  }
}

/** The first text of an element, and its attributes. */
const elementOf = ({ text }: Answer, name: string) =>
  new RegExp(`<${name}([^>]*)>([^<]*)`).exec(text)?.slice(1)

const leads = ({ text }: Answer) => [...text.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href]) => href)

const namesOf = ({ rawHeaders }: Answer) => rawHeaders.filter((_, index) => index % 2 === 0)

/** What a page means, whatever it looks like. */
const meaningOf = (answer: Answer) => ({
  status: answer.status,
  language: elementOf(answer, "html")?.[0],
  title: elementOf(answer, "title")?.[1],
  heading: elementOf(answer, "h1")?.[1],
  text: elementOf(answer, 'p class="lead"')?.[1],
  leads: leads(answer)
})

const webFolder = makeWebFolder()
afterAll(() => rmSync(webFolder, { recursive: true }))

const options = { trustedProxies: "127.0.0.1", quotas: { failedLookupsPerMinute: 5 }, signUp: true }

withService("a browser that is not redirected, where the web page is,", { ...options, webFolder }, (it) => {
  for (const [what, { again, sent, status, text, title }] of Object.entries(cases)) {
    it.effect(`is told why in a page with a way home: ${what}`, () =>
      Effect.map(sent(browser), (answer) => {
        expect(meaningOf(answer)).toEqual({
          status,
          language: ' lang="en"',
          title: `${title} · Linkmint`,
          heading: title,
          text,
          leads: ["/", ...(again ? [""] : []), "/"]
        })
        expect(answer.headers).toMatchObject({
          "content-type": "text/html; charset=utf-8",
          "cache-control": "no-store",
          vary: "accept, accept-language",
          "content-security-policy":
            "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        })
        expect(answer.text).toContain('<link rel="stylesheet" href="/assets/visitor-abc.css">')
        expect(answer.text).toContain('<link rel="icon" type="image/svg+xml" href="/assets/icon-abc.svg">')
        expect(answer.text).toContain('<meta name="robots" content="noindex">')
        expect(answer.text).not.toMatch(/<script|<style| style=| on\w+=/)
        expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(4_096)
        expect(answer.headers["content-length"]).toBe(String(Buffer.byteLength(answer.text)))
      })
    )
  }

  it.effect("is told when to try again, as programs are", () =>
    Effect.map(away(get("/not-at-hand", { accept: browser })), ({ headers, status }) => {
      expect([status, headers["retry-after"]]).toEqual([503, "1"])
    })
  )

  it.effect("is asked for a password by a form that can be sent, and that managers of passwords know", () =>
    Effect.gen(function* () {
      yield* made("guarded", { password: "right" })
      const asked = yield* get("/guarded", { accept: browser })
      const wrong = yield* post("/guarded", browser, "password=wrong")
      for (const answer of [asked, wrong]) {
        expect(answer.headers["content-security-policy"]).toBe(
          "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; form-action http: https:; frame-ancestors 'none'"
        )
        expect(answer.text).toContain('<label for="password">Password</label>')
        expect(answer.text).toMatch(
          /<input type="password" name="password" id="password" required autofocus /
        )
        expect(answer.text).toContain('autocomplete="current-password" aria-describedby="note"')
        expect(answer.text).not.toContain("maxlength")
        expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(4_096)
      }
      expect(meaningOf(asked)).toMatchObject({ title: "Password needed · Linkmint", leads: ["/"] })
      expect(meaningOf(wrong)).toMatchObject({ title: "Wrong password · Linkmint", leads: ["/"] })
      expect(asked.text).not.toContain("aria-invalid")
      expect(wrong.text).toContain(
        ' aria-invalid="true">\n<p class="fault" id="note">That was not the password.</p>'
      )
    })
  )

  it.effect("is shown where a link leads, in full, by text, and goes there by a button alone", () =>
    Effect.gen(function* () {
      yield* made("shown", { url: `https://www.example.com:8443/<b>?a=1&b="'#c` })
      const answer = yield* get("/shown+", { accept: browser })
      const { port } = yield* TestService
      expect(meaningOf(answer)).toMatchObject({
        status: 200,
        title: "Preview · Linkmint",
        text: "This is the short link ",
        leads: ["/", "https://www.example.com:8443/%3Cb%3E?a=1&#38;b=%22%27#c", "/"]
      })
      expect(answer.text).toContain(`>http://localhost:${port}/shown<`)
      expect(answer.text).toContain(
        ">https://<strong>www.example.com:8443</strong>/%3Cb%3E?a=1&#38;b=%22%27#c<"
      )
      expect(answer.text).toMatch(/<a class="button strong" rel="nofollow noreferrer" href="https:/)
      expect(answer.text).toContain('<time datetime="2026-11-21T10:00:00.000Z">21 November 2026</time>')
      expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(4_096)
    })
  )

  it.effect("is shown that a password guards a target, and where to enter it", () =>
    Effect.gen(function* () {
      yield* made("guarded-target", { password: "right" })
      const answer = yield* get("/guarded-target+", { accept: browser })
      expect(answer.text).toContain("A password guards where it leads.")
      expect(answer.text).not.toContain("example.com")
      expect(leads(answer)).toEqual(["/", "/guarded-target", "/"])
    })
  )

  it.effect("is shown the colours that it chose on the web page", () =>
    Effect.gen(function* () {
      yield* made("themed", { password: "right" })
      const look = (path: string, cookie: string) =>
        Effect.map(get(path, { accept: browser, cookie }), (answer) => [
          elementOf(answer, "html")![0],
          /<meta name="color-scheme" content="([^"]*)">/.exec(answer.text)?.[1]
        ])
      for (const path of ["/unknown", "/themed", "/themed+", "/a/b"]) {
        expect(yield* look(path, "a=b; linkmint_theme=dark"), path).toEqual([
          ' lang="en" data-theme="dark"',
          "dark"
        ])
        expect(yield* look(path, "linkmint_theme=light; a=b"), path).toEqual([
          ' lang="en" data-theme="light"',
          "light"
        ])
        for (const cookie of ["a=b", 'linkmint_theme="><script>', "other_linkmint_theme=dark"]) {
          expect(yield* look(path, cookie), path).toEqual([' lang="en"', "light dark"])
        }
      }
    })
  )

  for (const path of ["/unknown", "/a/b/c", "/headed", "/headed+"]) {
    it.effect(`is told by HEAD what it is told by GET: ${path}`, () =>
      Effect.gen(function* () {
        yield* made("headed", { password: "right" })
        const [whole, head] = yield* Effect.forEach(["GET", "HEAD"], (method) =>
          send({ method, path, headers: { accept: browser } })
        )
        expect(head!.text).toBe("")
        const constant = { date: "", "x-request-id": "" }
        expect({ ...head!.headers, ...constant }).toEqual({ ...whole!.headers, ...constant })
      })
    )
  }
})

withService("a browser that is not redirected, where the web page is not,", options, (it) => {
  for (const [what, { again, sent, status, text, title }] of Object.entries(cases)) {
    it.effect(`is told why in a page that needs nothing else: ${what}`, () =>
      Effect.map(sent(browser), (answer) => {
        expect(meaningOf(answer)).toMatchObject({ status, heading: title, text, leads: again ? [""] : [] })
        expect(answer.headers["content-security-policy"]).toBe(
          "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        expect(answer.text).not.toMatch(/<link|class="engraving"/)
        expect(answer.text).toContain('<meta name="color-scheme" content="light dark">')
      })
    )
  }
})

/** What programs get has not changed with the pages. */
withService("a program that is not redirected", { ...options, webFolder }, (it) => {
  for (const [what, { headers = [], json, sent, status }] of Object.entries(cases)) {
    it.effect(`gets a problem, byte for byte: ${what}`, () =>
      Effect.map(sent("application/json"), (answer) => {
        expect([answer.status, answer.text]).toEqual([status, json])
        expect(answer.headers["content-type"]).toBe("application/problem+json")
        const own = namesOf(answer).filter((name) => [...limits, "vary", "www-authenticate"].includes(name))
        expect(own.toSorted()).toEqual(headers.toSorted())
      })
    )
  }

  for (const [what, { json, sent }] of Object.entries(cases).filter(
    ([, { headers }]) => !headers?.includes("vary")
  )) {
    it.effect(`gets a problem also where it does not say what it accepts: ${what}`, () =>
      Effect.map(sent("*/*"), (answer) => expect(answer.text).toBe(json))
    )
  }

  for (const path of ["/api/v1/nothing", "/api/v1/links/nothing", "/API/v1/nothing", "/metrics/nothing"]) {
    it.effect(`gets a problem at ${path} whatever it accepts`, () =>
      Effect.map(get(path, { accept: browser }), ({ headers }) =>
        expect(headers["content-type"]).toBe("application/problem+json")
      )
    )
  }
})

const broken = { is: false }
const targets = {
  faultOf: () => {
    if (broken.is) throw new Error("the test has broken it")
    return undefined
  }
}

withService("where something is wrong with the service,", { ...options, webFolder, targets }, (it) => {
  for (const path of ["/guarded", "/guarded+"]) {
    it.effect(`a fault is a page for a browser, and a problem for a program: ${path}`, () =>
      Effect.gen(function* () {
        yield* made("guarded", { password: "right" })
        broken.is = true
        const answers = yield* Effect.forEach([browser, "application/json", "*/*"], (accept) =>
          get(path, { accept })
        ).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              broken.is = false
            })
          )
        )
        const [page, ...problems] = answers
        expect(meaningOf(page!)).toMatchObject({
          status: 500,
          heading: "Something went wrong",
          leads: ["/", "", "/"]
        })
        for (const { status, text } of problems) {
          expect([status, text]).toEqual([
            500,
            problem(
              "internal",
              "Something went wrong here",
              500,
              "This is a fault of the service. It has been logged."
            )
          ])
        }
      })
    )
  }

  it.effect("an answer that comes too late is a page for a browser, and a problem for a program", () =>
    Effect.gen(function* () {
      const { setFault } = yield* TestService
      yield* setFault("links", "silent")
      const [page, json] = yield* Effect.forEach(
        [browser, "application/json"],
        (accept) => get("/late", { accept }),
        { concurrency: "unbounded" }
      ).pipe(Effect.ensuring(setFault("links", "none")))
      expect(meaningOf(page!)).toMatchObject({ status: 503, heading: "Not available now" })
      expect(page!.headers["retry-after"]).toBe("1")
      expect([json!.status, json!.headers["content-type"]]).toEqual([503, "application/problem+json"])
    })
  )
})
