export default {
  title: "Webhooks",
  lead: "A webhook posts what happens to your links to an address of yours, signed. <api>The HTTP API</api> tells what its messages are.",
  new: "New webhook",
  none: "No webhooks yet",
  noneText: "Make one to have a program of yours told of links and visits.",
  removeTitle: "Remove this webhook?",
  removeText: "What waits for {url} goes with it, and so do its dead letters. This cannot be undone.",
  removed: "{url} is told nothing any more.",
  keep: "Keep it",
  remove: "Remove",
  removeOf: "Remove {url}",
  challenged: "{url} is sent a challenge.",
  challengeAgain: "Challenge again",
  challengeAgainOf: "Challenge again: {url}",
  unverified: "Has not answered its challenge",
  active: "Active",
  ended: "Ended with its API key",
  made: "Made {day}",
  nothingWaits: "Nothing waits",
  waiting: { one: "{count} event waiting", other: "{count} events waiting" },
  dropped: { one: "{count} event dropped", other: "{count} events dropped" },
  deadLetters: { one: "{count} dead letter", other: "{count} dead letters" },
  deadLettersOf: " of {url}",
  failures: {
    one: "{count} attempt failed since the last that did not",
    other: "{count} attempts failed since the last that did not"
  },
  failuresBecause: {
    one: "{count} attempt failed since the last that did not: {failure}",
    other: "{count} attempts failed since the last that did not: {failure}"
  },
  event: {
    "link.created": "Links that are made",
    "link.deleted": "Links that are deleted",
    "link.visited": "Visits"
  },
  letter: {
    "link.created": "A link was made",
    "link.deleted": "A link was deleted",
    "link.visited": "Visits",
    events: "Several events"
  },
  events: { one: "{count} event", other: "{count} events" },
  address: "Its address",
  addressHint: "It must answer a challenge there before it is told anything.",
  toldOf: "It is told of",
  make: "Make the webhook",
  making: "Making…",
  itsSecret: "Its secret",
  secretText:
    "This is what its messages are signed with. It is shown <once>this once</once>: keep it where secrets are kept.",
  secret: "the webhook's secret",
  letters: "Dead letters",
  lettersLead: "Messages that <webhook>it</webhook> did not take within a day. They are kept for 7 days.",
  noLetters: "No dead letters",
  noLettersText: "Everything was delivered, or is still tried.",
  queued: "Queued {moment}",
  givenUp: {
    one: "Given up {moment}, after {count} attempt",
    other: "Given up {moment}, after {count} attempts"
  },
  sendAgain: "Send again",
  sendAgainOf: "Send again: {id}",
  queuedAgain: "It is queued again."
}
