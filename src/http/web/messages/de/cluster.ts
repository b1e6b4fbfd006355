import type english from "../en/cluster.ts"

export default {
  title: "Cluster",
  live: "Live",
  reconnecting: "Wird neu verbunden. Das ist der Stand von {time}.",
  canBeLost: "Links können verloren gehen",
  forAdministrators: "Für Administratoren",
  forAdministratorsText: "Den Cluster sehen die, die ihn betreiben.",
  whatHappened: "Was geschah",
  nothingHappened: "Nichts, seit die Seite zusieht: Kein Knoten kam oder ging, und kein Aktor zog um.",
  node: {
    silent: "{address} antwortet nicht",
    stopping: "{address} fährt herunter",
    answers: "{address} antwortet wieder",
    restarted: "{address} ist neu gestartet",
    joined: "{address} ist dazugekommen",
    left: "{address} ist gegangen"
  },
  moved: "Umgezogen von {from} zu {to}: {actors}",
  formerNode: "einem früheren Knoten",
  anotherNode: "einem anderen Knoten",
  keyRanges: { one: "{count} Schlüsselbereich", other: "{count} Schlüsselbereiche" },
  poolShards: { one: "{count} Vorratsteil", other: "{count} Vorratsteile" },
  partitions: { one: "{count} Partition", other: "{count} Partitionen" },
  actor: { KeyRange: "Schlüsselbereiche", PoolShard: "Vorratsteile", UrlMapping: "Partitionen" },
  noActors: "keine",
  silentFor: "Antwortet nicht seit: {span}",
  stopping: "Fährt herunter",
  upFor: "In Betrieb seit: {span}",
  ofVersion: "{state}, Version {version}",
  ownsNone: "Beantwortet Anfragen und hat keine Aktoren.",
  elsewhere: "Seine Aktoren sind woanders.",
  heldKeys: {
    one: "Er hielt bis zu {count} Schlüssel, mit ihm verloren",
    other: "Er hielt bis zu {count} Schlüssel, mit ihm verloren"
  },
  keysAtHand: {
    one: "{pace} Anfragen je Sekunde, {count} Schlüssel bereit",
    other: "{pace} Anfragen je Sekunde, {count} Schlüssel bereit"
  },
  noNodes: "Die Datenbank sagt nicht, welche Knoten es gibt.",
  nodes: { one: "{count} Knoten", other: "{count} Knoten" },
  between: "Zwischen Knoten",
  withoutOwner: {
    one: "{count} Aktor gerade ohne Besitzer",
    other: "{count} Aktoren gerade ohne Besitzer"
  },
  traffic: "Verkehr",
  requests: "Anfragen je Sekunde",
  linksMade: "Neue Links je Sekunde",
  redirects: "Weiterleitungen je Sekunde",
  errors: "Fehler je Sekunde",
  errorsHint: "Antworten mit 5xx",
  latency: "p50 {p50} ms, p99 {p99} ms",
  noLatency: "keine in den letzten 10 s",
  pools: "Vorräte",
  poolShard: "Vorratsteil {shard}",
  keysIn: "Schlüssel in Vorratsteil {shard}",
  keys: { one: "{count} Schlüssel", other: "{count} Schlüssel" },
  noAnswer: "antwortet nicht",
  notKnown: "nicht bekannt",
  levelOf: "{level} von {high}",
  filledUp: "Aufgefüllt bis {high}, wenn weniger als {low} übrig sind, die Kerbe.",
  forgotten: "Die Datenbank hatte vergessen",
  forgottenText:
    "Links, die inzwischen angelegt, geändert oder gelöscht wurden, können weg sein oder so, wie sie vorher waren. Keiner ihrer Schlüssel wird noch einmal vergeben.",
  forgottenSince:
    "Seit {moment} ist nichts bekannt. {skipped} Schlüssel wurden übersprungen, und {dropped}, die bereitstanden, aufgegeben.",
  forgottenSometime:
    "Eine Sicherung wurde eingespielt. {skipped} Schlüssel wurden übersprungen, und {dropped}, die bereitstanden, aufgegeben.",
  ledger: "Verbleib der Schlüssel",
  part: {
    bound: "An Links vergeben",
    quarantined: "In Quarantäne",
    stocked: "Auf Lager",
    pooled: "In Vorräten",
    buffered: "Bei Knoten",
    rest: "Unterwegs oder verloren"
  },
  minted: "Geprägt",
  countedAt: "Gezählt um {time}.",
  ranges: "Schlüsselbereiche",
  notTold: "Die Datenbank sagt nicht, was von ihnen übrig ist.",
  left: "{remaining} Schlüssel mit {length} Zeichen sind übrig, von {total}.",
  noneMade: "Zurzeit werden keine Links angelegt.",
  theyLast: "Bei {pace} Links je Sekunde, dem Tempo seit dem Start der Knoten, reichen sie: {span}.",
  range: "Bereich {range}: {share} mit {length} Zeichen übrig",
  emptiest: "Der leerste hat noch {share} seiner Schlüssel. Längere Schlüssel folgen von selbst."
} satisfies typeof english
