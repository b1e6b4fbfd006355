import { createHash } from "node:crypto"
import { Effect, Either } from "effect"
import * as FairSemaphore from "../../fibers/FairSemaphore.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import { Domains } from "../domains/Domains.ts"
import { flatten } from "../exchange/Answer.ts"
import * as Caller from "../exchange/Caller.ts"
import { shortUrlOf } from "../links/LinkAnswers.ts"
import * as ManagedLink from "../links/ManagedLink.ts"
import * as Problem from "../exchange/Problem.ts"
import type { QueryText } from "../exchange/PageRequest.ts"
import type { Request } from "../exchange/Request.ts"
import { type Shape, shapes } from "./QrDrawing.ts"
import * as QrImage from "./QrImage.ts"
import { BrandLogo, type Logo } from "./QrLogo.ts"
import type { Message } from "../../model/Messages.ts"

/** Images that are drawn at once; each takes some ms of the one thread that answers everything. */
const drawnAtOnceMax = 2

/** How long a client may keep an image, in seconds: what a short URL looks like never changes, but who may ask does. */
const keepFor_s = 86_400

interface Parameters {
  readonly format?: QueryText
  readonly size?: QueryText
  readonly color?: QueryText
  readonly background?: QueryText
  readonly shape?: QueryText
  readonly logo?: QueryText
}

interface Wish {
  readonly format: "svg" | "png"
  readonly design: QrImage.Design
}

const isColour = (text: QueryText): text is string =>
  typeof text === "string" && /^[0-9a-fA-F]{6}$/.test(text)

const isShape = (text: QueryText): text is Shape => shapes.some((shape) => shape === text)

/** Why a code in a format cannot have the service's logo; `undefined` where it can. */
const logoFault = (logo: QueryText, format: QueryText, brandLogo: Logo | undefined): Message | undefined => {
  if (logo === "none") return undefined
  if (logo !== "brand") return "must be none or brand"
  if (brandLogo === undefined) return "must be none: this service has no logo of its own"
  return format === "png" && brandLogo.pixels === undefined
    ? "must be none in PNG: the service's logo cannot be drawn there. SVG can have it"
    : undefined
}

const check = (
  {
    background = QrImage.blackOnWhite.light,
    color = QrImage.blackOnWhite.dark,
    format = "svg",
    logo = "none",
    shape = "square",
    size = "256"
  }: Parameters,
  brandLogo: Logo | undefined
): Either.Either<Wish, Problem.Problem> => {
  const errors: Array<Problem.Fault> = []
  if (format !== "svg" && format !== "png") errors.push({ path: "format", message: "must be svg or png" })
  const pixels = typeof size === "string" && /^\d{1,4}$/.test(size) ? Number(size) : Number.NaN
  if (!(pixels >= QrImage.sizeMin && pixels <= QrImage.sizeMax)) {
    errors.push({
      path: "size",
      message: `must be a whole number from ${QrImage.sizeMin} to ${QrImage.sizeMax}`
    })
  }
  for (const [path, colour] of Object.entries({ color, background })) {
    if (!isColour(colour)) errors.push({ path, message: "must be six hexadecimal digits, such as 0a6b54" })
  }
  if (!isShape(shape)) errors.push({ path: "shape", message: `must be one of ${shapes.join(", ")}` })
  const fault = logoFault(logo, format, brandLogo)
  if (fault !== undefined) errors.push({ path: "logo", message: fault })
  if (errors.length > 0) return Either.left(Problem.faulty("invalid-request", errors))
  const colours = { dark: String(color).toLowerCase(), light: String(background).toLowerCase() }
  const drawnLogo = logo === "brand" ? brandLogo : undefined
  return Either.right({
    format: format as Wish["format"],
    design: { size: pixels, colours, shape: shape as Shape, logo: drawnLogo }
  })
}

const contentTypes = { svg: "image/svg+xml", png: "image/png" } as const

/** What distinguishes one image from another; the first part is the drawing's own version. */
const tagOf = (text: string, { design, format }: Wish): string => {
  const { colours, logo, shape, size } = design
  const parts = [3, format, size, colours.dark, colours.light, shape, logo?.url ?? "", text]
  return `"${createHash("sha256").update(parts.join(" ")).digest("base64url").slice(0, 22)}"`
}

/** Whether a client says that it has what the tag names (RFC 9110, section 13.1.2). */
const has = ({ headers }: Request, tag: string): boolean =>
  (headers["if-none-match"] ?? "")
    .split(",")
    .some((known) => known.trim().replace(/^W\//, "") === tag || known.trim() === "*")

/** Draws short URLs as QR codes. */
export const make = ({ baseUrl }: { readonly baseUrl: URL }) =>
  Effect.gen(function* () {
    const manageable = yield* ManagedLink.make
    const identify = yield* Caller.make
    const naming = { baseUrl, domains: yield* Domains }
    const brandLogo = yield* BrandLogo
    const turns = FairSemaphore.make(drawnAtOnceMax)

    const image = Effect.fn("qr.image")(function* (
      request: Request,
      named: ManagedLink.NamedLink,
      parameters: Parameters
    ) {
      const caller = yield* Caller.requireScope(yield* identify(request), "links:read")
      const wish = yield* check(parameters, brandLogo)
      const link = yield* manageable(caller, named)
      const text = shortUrlOf(link.key, naming)
      const etag = tagOf(text, wish)
      const headers = { etag, "cache-control": `private, max-age=${keepFor_s}` }
      if (has(request, etag)) return { status: 304, headers: flatten(headers), body: "" }
      const draw = wish.format === "svg" ? QrImage.svg : QrImage.png
      const body = yield* turns(draw(text, wish.design))
      return {
        status: 200,
        headers: flatten({ "content-type": contentTypes[wish.format], ...headers }),
        body
      }
    })

    return {
      image: (request, { domain, key, ...parameters }) => image(request, { domain, key }, parameters)
    } satisfies OperationsOf<"qr">
  })
