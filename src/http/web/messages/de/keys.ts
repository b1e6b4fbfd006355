import type english from "../en/keys.ts"

export default {
  title: "API-Schlüssel",
  lead: "Programme zeigen statt eines Passworts einen Schlüssel. Was sie damit können, steht bei der <api>HTTP-API</api>.",
  new: "Neuer Schlüssel",
  none: "Noch keine Schlüssel",
  noneText: "Am besten einen für jedes Programm: So lässt sich jeder für sich widerrufen.",
  revoked: "„{name}“ gilt nicht mehr.",
  revokeTitle: "Diesen Schlüssel widerrufen?",
  revokeText:
    "Programme, die „{name}“ benutzen, gehen innerhalb einer Sekunde nicht mehr. Das lässt sich nicht rückgängig machen.",
  keep: "Behalten",
  revoke: "Widerrufen",
  revokeOf: "{name} widerrufen",
  made: "Angelegt {day}",
  endsAt: "Endet {day}",
  creates: { one: "{count} neuer Link je Minute", other: "{count} neue Links je Minute" },
  redirects: { one: "{count} Weiterleitung am Tag", other: "{count} Weiterleitungen am Tag" },
  quotas: "Kontingente",
  linksMade: "Neue Links in dieser Minute",
  redirectsToday: "Weiterleitungen heute",
  used: "{used} von {limit}, bis {moment}",
  scope: {
    "links:read": "Links sehen",
    "links:write": "Links anlegen, ändern und löschen",
    "stats:read": "Statistik sehen",
    admin: "Alles, bei allen"
  },
  confirm: "Die Anmeldung ist eine Weile her. Vor einem neuen Schlüssel wird noch einmal danach gefragt.",
  name: "Name",
  nameHint: "Das Programm, für das er ist.",
  itMay: "Er darf",
  ends: "Endet",
  endsHint: "Leer: wenn er widerrufen wird.",
  createsAMinute: "Neue Links je Minute",
  redirectsADay: "Weiterleitungen am Tag",
  make: "Schlüssel anlegen",
  making: "Wird angelegt…",
  yours: "Der neue API-Schlüssel",
  newTitle: "Neuer API-Schlüssel",
  secretText:
    "Das ist „{name}“. Er wird <once>nur dieses Mal</once> gezeigt: Er gehört dorthin, wo Geheimnisse verwahrt werden.",
  secret: "der API-Schlüssel"
} satisfies typeof english
