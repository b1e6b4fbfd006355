import { fill } from "../language/fill.tsx"
import { told } from "../language/told.ts"
import { words } from "../ui/words.ts"

/** Longer than the service takes for any answer. */
const timeout_ms = 15_000

/** What is wrong with a field of a request; with all of it where `path` is empty. */
interface Fault {
  readonly path: string
  readonly message: string
}

/** A problem as the service says it, but for its status. */
export interface ProblemBody {
  readonly type: string
  readonly detail: string
  readonly errors?: ReadonlyArray<Fault> | undefined
}

/** Whether a fault is of a field, or of something in it. */
const isOf = ({ path }: Fault, field: string) => path === field || path.startsWith(`${field}.`)

/** must be a list → Must be a list. */
const sentence = (text: string): string =>
  text.charAt(0).toUpperCase() + text.slice(1) + (/[.?!…]$/.test(text) ? "" : ".")

/** title must be a string */
const faultText = ({ message, path }: Fault): string => `${path} ${told(message)}`.trim()

/** What a problem says, in the page's language. The service names the first of its faults there. */
export const detailOf = ({ detail, errors: [first] = [] }: Pick<ProblemBody, "detail" | "errors">): string =>
  first !== undefined && detail === `${first.path} ${first.message}` ? faultText(first) : told(detail)

/** A request that did not do what it should. `kind` is the slug of the problem's type, or says why there is no answer. */
export class ApiError extends Error {
  readonly kind: string
  readonly status: number
  readonly faults: ReadonlyArray<Fault>
  /** When to try again, where the service says so. */
  readonly retryAfter_s: number | undefined

  constructor(
    kind: string,
    status: number,
    detail: string,
    faults: ReadonlyArray<Fault> = [],
    retryAfter_s?: number
  ) {
    super(detailOf({ detail, errors: faults }))
    this.kind = kind
    this.status = status
    this.faults = faults
    this.retryAfter_s = retryAfter_s
  }

  /** What is wrong with a field of the request, as a sentence. */
  faultOf(field: string): string | undefined {
    const fault = this.faults.find((fault) => isOf(fault, field))
    return fault && sentence(told(fault.message))
  }

  /** What is wrong beside these fields, whose faults are shown where they are. */
  generalFault(fields: ReadonlyArray<string>): string | undefined {
    if (this.faults.length === 0) return this.message
    const others = this.faults.filter((fault) => !fields.some((field) => isOf(fault, field)))
    const sentences = others.map((fault) => sentence(faultText(fault)))
    return sentences.length === 0 ? undefined : sentences.join(" ")
  }
}

/** What the page itself says, in its own language: the service was not asked. */
export const ownError = (text: string, field = ""): ApiError =>
  new ApiError("own", 0, text, field === "" ? [] : [{ path: field, message: text }])

/** Any error as one that can be shown. */
export const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : ownError(words().onThisPage)

/** The slug of a problem's type. */
const kindOf = (type: string): string => type.slice(type.lastIndexOf("/") + 1)

const problemOf = async (response: Response): Promise<ApiError> => {
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN)
  const wait = Number.isFinite(retryAfter) ? retryAfter : undefined
  try {
    const { detail, errors, type } = (await response.json()) as ProblemBody
    return new ApiError(kindOf(type), response.status, detail, errors, wait)
  } catch {
    return new ApiError("own", response.status, fill(words().answered, { status: response.status }), [], wait)
  }
}

const noAnswer = (error: unknown): unknown => {
  const name = error instanceof Error ? error.name : ""
  if (name === "AbortError") return error
  return name === "TimeoutError"
    ? new ApiError("timeout", 0, words().timeout)
    : new ApiError("offline", 0, words().offline)
}

/** What a request may have beside its method and path. */
export interface RequestOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Whether its errors say nothing of the session: see {@link onError}. */
  readonly isOutside?: boolean
}

/** Heard of each error, so that a session that has ended is noticed wherever it shows. */
export const onError: { handle: (error: ApiError) => void } = { handle: () => {} }

/** Sends a request and gives the answer's JSON; `undefined` where it has none. Fails with {@link ApiError}, or as aborted. */
export const request = async <A = undefined>(
  method: string,
  path: string,
  { body, headers, isOutside = false, signal }: RequestOptions = {}
): Promise<A> => {
  const timeout = AbortSignal.timeout(timeout_ms)
  const response = await fetch(path, {
    method,
    headers: {
      accept: "application/json",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers
    },
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    ...(body !== undefined && { body: JSON.stringify(body) })
  }).catch((error: unknown) => {
    throw noAnswer(error)
  })
  if (!response.ok) {
    const error = await problemOf(response)
    if (!isOutside) onError.handle(error)
    throw error
  }
  const text = await response.text()
  return (text === "" ? undefined : JSON.parse(text)) as A
}
