import * as Iso8601 from "../../model/Iso8601.ts"
import { joinedType } from "../../model/Webhook.ts"

/** What goes into one message at most: events, and bytes of its body. */
export interface JoinBounds {
  readonly events: number
  readonly bytes: number
}

/** What joining needs of a due message. */
export interface Joinable {
  readonly id: string
  /** Of its body. */
  readonly bytes: number
  /** It is not joined: it was sent before, or is no event. */
  readonly isSealed: boolean
}

/** Bytes of the JSON around all events of a message, and around each beside its id. */
const aroundAll = 72
const aroundEach = 10

const joinedBytes = ({ bytes, id }: Joinable) => bytes + id.length + aroundEach

/** Divides messages into groups, in their order: each group becomes one message. The first of a group may exceed the bounds. */
export const groupsOf = <M extends Joinable>(
  messages: ReadonlyArray<M>,
  { bytes, events }: JoinBounds
): ReadonlyArray<ReadonlyArray<M>> => {
  const groups: Array<Array<M>> = []
  let open: { readonly group: Array<M>; bytes: number } | undefined
  for (const message of messages) {
    const more = joinedBytes(message)
    if (message.isSealed) {
      groups.push([message])
    } else if (open !== undefined && open.group.length < events && open.bytes + more <= bytes) {
      open.group.push(message)
      open.bytes += more
    } else {
      open = { group: [message], bytes: aroundAll + more }
      groups.push(open.group)
    }
  }
  return groups
}

/** An event among others: its own body with its id. */
const entryOf = ({ body, id }: { readonly id: string; readonly body: string }) => {
  const fields = body.slice(1)
  return `{"id":${JSON.stringify(id)}${fields === "}" ? "" : ","}${fields}`
}

/** The body of a message with several events, whose own bodies are JSON objects, at a moment in milliseconds since the Unix epoch. */
export const joinedBody = (
  events: ReadonlyArray<{ readonly id: string; readonly body: string }>,
  at: number
): string =>
  `{"type":"${joinedType}","timestamp":"${Iso8601.formatMoment(at)}","data":[${events.map(entryOf).join(",")}]}`
