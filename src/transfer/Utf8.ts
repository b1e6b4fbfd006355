import { Unreadable } from "./Unreadable.ts"

/** The text of bytes, a piece at a time. Fails with {@link Unreadable} where they are not UTF-8. */
export async function* textOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  let line = 1
  const decode = (piece?: Uint8Array): string => {
    try {
      return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true })
    } catch {
      throw new Unreadable(line, "here, or soon after, the text is not UTF-8")
    }
  }
  for await (const piece of bytes) {
    const text = decode(piece)
    yield text
    for (let place = text.indexOf("\n"); place !== -1; place = text.indexOf("\n", place + 1)) line++
  }
  yield decode()
}
