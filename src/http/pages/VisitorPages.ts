import { Context, Effect, Layer } from "effect"
import { formFor, type Form } from "../exchange/Accept.ts"
import { type Answer, flatten, json } from "../exchange/Answer.ts"
import type { PreviewBody } from "../contract/LinkSchemas.ts"
import type { LinkCard } from "../../model/Link.ts"
import { ownSeed } from "./Emblem.ts"
import * as Problem from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"
import { plainPolicy } from "../exchange/StrictHeaders.ts"
import { type Theme, themeOf } from "./ThemeCookie.ts"
import { type VisitorFiles, WebAssets } from "./WebAssets.ts"
import { engraving } from "./Engraving.ts"
import type { Html } from "./Html.ts"
import * as Markup from "./Markup.ts"
import { type BrandSettings, own as ownBrand } from "./Brand.ts"
import { languageOf } from "./Language.ts"
import { builtIn, type Languages, type VisitorWords } from "./Words.ts"

/** The name of a page that says why a visitor is not redirected. */
export type PageName = keyof VisitorWords["messages"]

interface Manner {
  /** Whether a repeat of the request can succeed, so that the page offers one. */
  readonly again: boolean
  /** What clients get that accept either. */
  readonly otherwise: Form
}

/** Clients that accept anything get a page where a link is missing or refused, and JSON otherwise. */
const manners: Readonly<Record<PageName, Manner>> = {
  "no-link": { again: false, otherwise: "page" },
  ended: { again: false, otherwise: "page" },
  "too-many-requests": { again: true, otherwise: "page" },
  "too-many-passwords": { again: true, otherwise: "page" },
  "owner-limit": { again: false, otherwise: "page" },
  "too-long": { again: false, otherwise: "page" },
  "no-page": { again: false, otherwise: "json" },
  "not-understood": { again: true, otherwise: "json" },
  unavailable: { again: true, otherwise: "json" },
  broken: { again: true, otherwise: "json" }
}

/** The page of a problem by its kind. */
const pages: Partial<Record<Problem.Kind, PageName>> = {
  "not-found": "no-link",
  gone: "ended",
  "rate-limited": "too-many-requests",
  "uri-too-long": "too-long",
  unavailable: "unavailable",
  internal: "broken"
}

/** A problem, and the page that explains it where the kind alone does not decide that. */
export interface Refusal extends Problem.Problem {
  readonly page?: PageName
}

/** The refusal of a path at which nothing is. */
export const noRoute: Refusal = {
  kind: "not-found",
  detail: "There is nothing at this path for this method.",
  page: "no-page"
}

/** Paths for programs: the contract promises problems there, whatever a client accepts. */
const ofPrograms = /^\/+(api|health|metrics|openapi\.json|robots\.txt)\b/i

/** Whether a path is for programs. */
export const isForPrograms = (url: string): boolean => ofPrograms.test(url)

/** The service behind {@link VisitorPages}. */
export interface VisitorPagesService {
  /** Answers with a problem: as a page, or as JSON (RFC 9457) to clients that prefer it. */
  readonly refuse: (request: Pick<Request, "headers" | "url">, refusal: Refusal) => Answer<string>
  /** 401: asks for the password of a link, by a form or as a problem. */
  readonly askPassword: (request: Pick<Request, "headers">, why: "asked" | "wrong") => Answer<string>
  /** Shows crawlers the card of a link that leads to `target`. `vary`: the headers of the request by which another one gets another answer. */
  readonly card: (
    card: LinkCard,
    target: string,
    isIndexed: boolean,
    vary: string | undefined
  ) => Answer<string>
  /** Shows a preview, as a page or as JSON. */
  readonly preview: (request: Pick<Request, "headers">, body: typeof PreviewBody.Type) => Answer<string>
}

const themes = ["auto", "light", "dark"] as const

/** Renders a page for each language, name and theme, once. */
const written = <Name extends string>(
  languages: Languages,
  names: ReadonlyArray<Name>,
  write: (words: VisitorWords, language: string, name: Name, theme: Theme) => Html
): ReadonlyMap<string, Readonly<Record<Name, Readonly<Record<Theme, string>>>>> =>
  new Map(
    [...languages].map(([language, words]) => [
      language,
      Object.fromEntries(
        names.map((name) => [
          name,
          Object.fromEntries(themes.map((theme) => [theme, write(words, language, name, theme).text]))
        ])
      ) as Record<Name, Record<Theme, string>>
    ])
  )

/** Allows the files of a page, all of this service. */
const policyWithFiles = plainPolicy.replace(
  "default-src 'none'",
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'"
)

/**
 * The form may be sent, and the answer may lead anywhere: browsers hold what a form's answer redirects to against `form-action` as well. The page
 * has nothing of a request in it.
 */
const withForm = (policy: string) => policy.replace("form-action 'none'", "form-action http: https:")

/** RFC 9110, section 15.5.2, wants a challenge; of a scheme that browsers do not know, so that they show the form. */
const challenge = { "www-authenticate": `Form realm="linkmint"` }

const passwordDetails = {
  asked: "A password guards this link. Send it as the form field password with POST.",
  wrong: "That was not the password."
} as const

/** What the pages are made of. */
interface VisitorPagesOptions {
  /** What they load; none where there is no web page. */
  readonly files?: VisitorFiles | undefined
  readonly brand?: BrandSettings
  readonly languages?: Languages
}

/** See {@link VisitorPages}. */
export const make = (options: VisitorPagesOptions = {}): VisitorPagesService => {
  const { brand = ownBrand, files, languages = builtIn } = options
  const policy = files === undefined ? plainPolicy : policyWithFiles
  const own = engraving(ownSeed)
  const choose = languageOf([...languages.keys()])

  // Scanners ask for thousands of missing keys, so these are rendered in advance.
  const names = Object.keys(manners) as ReadonlyArray<PageName>
  const messages = written(languages, names, (words, language, name, theme) =>
    Markup.message(
      { files, theme, language, words, brand, engraving: own },
      words.messages[name],
      manners[name]
    )
  )
  const forms = written(languages, ["asked", "wrong"], (words, language, why, theme) =>
    Markup.passwordForm({ files, theme, language, words, brand, engraving: own }, why)
  )

  const answer = (
    html: string,
    status: number,
    headers: Readonly<Record<string, string>>
  ): Answer<string> => ({
    status,
    headers: flatten({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": policy,
      vary: "accept, accept-language",
      ...headers
    }),
    body: html
  })

  const themeFor = ({ headers }: Pick<Request, "headers">) => themeOf(headers["cookie"])

  return {
    refuse: (request, { page, ...problem }) => {
      const name = page ?? pages[problem.kind] ?? "not-understood"
      const { otherwise } = manners[name]
      const isForProgram = otherwise === "json" && isForPrograms(request.url)
      if (isForProgram || formFor(request, otherwise) === "json") {
        const headers = otherwise === "page" ? { ...problem.headers, vary: "accept" } : problem.headers
        return Problem.answer({ ...problem, ...(headers && { headers }) })
      }
      return answer(
        messages.get(choose(request))![name][themeFor(request)],
        Problem.statusOf(problem.kind),
        Problem.headersOf(problem)
      )
    },
    askPassword: (request, why) => {
      if (formFor(request, "page") === "page") {
        const headers = { ...challenge, "content-security-policy": withForm(policy) }
        return answer(forms.get(choose(request))![why][themeFor(request)], 401, headers)
      }
      const headers = { ...challenge, vary: "accept" }
      return Problem.answer({ kind: "password-required", detail: passwordDetails[why], headers })
    },
    card: (card, target, isIndexed, vary) => ({
      status: 200,
      headers: flatten({
        "content-type": "text/html; charset=utf-8",
        ...(vary !== undefined && { vary }),
        ...(!isIndexed && { "x-robots-tag": "noindex" })
      }),
      body: Markup.card(card, target).text
    }),
    preview: (request, body) => {
      if (formFor(request, "page") === "json") {
        const shown = json(body)
        shown.headers.push("vary", "accept")
        return shown
      }
      const language = choose(request)
      const framed = {
        files,
        theme: themeFor(request),
        language,
        words: languages.get(language as "en"),
        brand,
        engraving: engraving(body.key)
      }
      return answer(Markup.preview(framed, body).text, 200, {})
    }
  }
}

/**
 * The pages for visitors who are not redirected, and the choice between a page and JSON. Pages have no scripts, and can be read without their stylesheet.
 *
 * By default they have no stylesheet, as a service without the web page.
 */
export class VisitorPages extends Context.Reference<VisitorPages>()("linkmint/VisitorPages", {
  defaultValue: (): VisitorPagesService => make()
}) {}

/** Pages in the web page's design. */
export const layer = (
  options: Omit<VisitorPagesOptions, "files"> = {}
): Layer.Layer<VisitorPages, never, WebAssets> =>
  Layer.effect(
    VisitorPages,
    Effect.map(WebAssets, ({ visitorFiles }) => make({ ...options, files: visitorFiles }))
  )
