import type english from "../en/webhooks.ts"

export default {
  title: "Webhooks",
  lead: "Ein Webhook sendet signiert an eine eigene Adresse, was mit den Links geschieht. Wie seine Nachrichten aussehen, steht bei der <api>HTTP-API</api>.",
  new: "Neuer Webhook",
  none: "Noch keine Webhooks",
  noneText: "Mit einem erfährt ein eigenes Programm von Links und Besuchen.",
  removeTitle: "Diesen Webhook entfernen?",
  removeText:
    "Was auf {url} wartet, geht mit ihm, und auch das Unzustellbare. Das lässt sich nicht rückgängig machen.",
  removed: "{url} erfährt nichts mehr.",
  keep: "Behalten",
  remove: "Entfernen",
  removeOf: "{url} entfernen",
  challenged: "{url} bekommt eine Prüfanfrage.",
  challengeAgain: "Erneut prüfen",
  challengeAgainOf: "Erneut prüfen: {url}",
  unverified: "Hat die Prüfanfrage nicht beantwortet",
  active: "Aktiv",
  ended: "Mit dem API-Schlüssel beendet",
  made: "Angelegt {day}",
  nothingWaits: "Nichts wartet",
  waiting: { one: "{count} Ereignis wartet", other: "{count} Ereignisse warten" },
  dropped: { one: "{count} Ereignis verworfen", other: "{count} Ereignisse verworfen" },
  deadLetters: { one: "{count} unzustellbar", other: "{count} unzustellbar" },
  deadLettersOf: " bei {url}",
  failures: {
    one: "{count} Versuch ist seit dem letzten Erfolg gescheitert",
    other: "{count} Versuche sind seit dem letzten Erfolg gescheitert"
  },
  failuresBecause: {
    one: "{count} Versuch ist seit dem letzten Erfolg gescheitert: {failure}",
    other: "{count} Versuche sind seit dem letzten Erfolg gescheitert: {failure}"
  },
  event: {
    "link.created": "Neue Links",
    "link.deleted": "Gelöschte Links",
    "link.visited": "Besuche"
  },
  letter: {
    "link.created": "Ein Link wurde angelegt",
    "link.deleted": "Ein Link wurde gelöscht",
    "link.visited": "Besuche",
    events: "Mehrere Ereignisse"
  },
  events: { one: "{count} Ereignis", other: "{count} Ereignisse" },
  address: "Seine Adresse",
  addressHint: "Dort muss er erst eine Prüfanfrage beantworten, bevor er etwas erfährt.",
  toldOf: "Er erfährt von",
  make: "Webhook anlegen",
  making: "Wird angelegt…",
  itsSecret: "Sein Geheimnis",
  secretText:
    "Damit sind seine Nachrichten signiert. Es wird <once>nur dieses Mal</once> gezeigt: Es gehört dorthin, wo Geheimnisse verwahrt werden.",
  secret: "das Geheimnis des Webhooks",
  letters: "Unzustellbares",
  lettersLead:
    "Nachrichten, die <webhook>it</webhook> einen Tag lang nicht angenommen hat. Sie bleiben 7 Tage lang.",
  noLetters: "Nichts Unzustellbares",
  noLettersText: "Alles ist zugestellt oder wird noch versucht.",
  queued: "Eingereiht {moment}",
  givenUp: {
    one: "Aufgegeben {moment}, nach {count} Versuch",
    other: "Aufgegeben {moment}, nach {count} Versuchen"
  },
  sendAgain: "Erneut senden",
  sendAgainOf: "Erneut senden: {id}",
  queuedAgain: "Wieder eingereiht."
} satisfies typeof english
