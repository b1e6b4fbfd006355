import { Effect, Random } from "effect"

/** A request id that may go into logs and back to the client. */
const saneRequestId = /^[A-Za-z0-9._:/+=-]{1,128}$/

const hex = (n: number, digits: number) => n.toString(16).padStart(digits, "0")

/** The last two digits of an id. */
const endings = Array.from({ length: 256 }, (_, n) => hex(n, 2))

const drawHalf = Random.nextIntBetween(0, 2 ** 32)

/** Tells the id of a request by its headers. */
export type IdOf = (headers: Readonly<Record<string, string | undefined>>) => string

/**
 * Tells the id of requests: what the client says in `X-Request-Id` where that is sane, else 16 hexadecimal digits that no other request has, half of
 * them drawn once, and half counted.
 */
export const make: Effect.Effect<IdOf> = Effect.zipWith(drawHalf, drawHalf, (drawn, start) => {
  let count = start
  const beginning = () => hex(drawn, 8) + hex(count >>> 8, 6)
  let begun = beginning()
  return (headers) => {
    const given = headers["x-request-id"]
    if (given !== undefined && saneRequestId.test(given)) return given
    count = (count + 1) >>> 0
    if ((count & 255) === 0) begun = beginning()
    return begun + endings[count & 255]!
  }
})
