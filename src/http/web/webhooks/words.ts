import type { DeadLetters, Webhook } from "../api/Types.ts"

/** What a webhook can be told of. */
export const eventWords: Readonly<Record<Webhook["events"][number], string>> = {
  "link.created": "Links that are made",
  "link.deleted": "Links that are deleted",
  "link.visited": "Visits"
}

/** What a message that was given up is about. */
export const letterWords: Readonly<Record<DeadLetters["data"][number]["event"], string>> = {
  "link.created": "A link was made",
  "link.deleted": "A link was deleted",
  "link.visited": "Visits",
  events: "Several events"
}
