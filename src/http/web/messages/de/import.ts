import type english from "../en/import.ts"

export default {
  title: "Viele anlegen",
  links: "Links",
  fromFile: "Aus einer Datei",
  fromFileText:
    "Was Kutt, YOURLS, Shlink, Bitly, Dub oder Linkmint exportiert haben (CSV, JSON, SQL), oder eine andere CSV-Datei mit einer Spalte für Adressen.",
  lines: { one: "{count} Zeile", other: "{count} Zeilen" },
  cutOff: "Ein Import ({title}) brach nach {lines} von {total} ab. Mit derselben Datei geht er weiter.",
  forgetIt: "Vergessen",
  tooLarge: "Diese Datei hat mehr als 256 MB. Bitte in Teile zerlegen.",
  empty: "In dieser Datei ist nichts.",
  unreadable: "Zeile {line}: {reason}.",
  unreadableFile: "Diese Datei lässt sich nicht lesen.",
  reading: "Wird gelesen…",
  choose: "<strong>Eine Datei wählen</strong> oder hier ablegen",
  keepsKeys: "Ihre kurzen Schlüssel als Aliase behalten",
  cutsTitles: "Zu lange Titel kürzen",
  pasted: "Eingefügt",
  oneALine: "Je Zeile eine Adresse",
  oneALineHint: "Nach einem Leerzeichen kann ein Alias folgen.",
  preview: "Vorschau",
  firstLinks: "Die ersten Links",
  leadsTo: "Führt zu",
  alias: "Alias",
  linkTitle: "Titel",
  tags: "Schlagwörter",
  minted: "geprägt",
  others: { one: "Und {count} weiterer.", other: "Und {count} weitere." },
  leftOut: { one: "{count} Zeile wird ausgelassen", other: "{count} Zeilen werden ausgelassen" },
  notMade: { one: "{count} Zeile nicht angelegt", other: "{count} Zeilen nicht angelegt" },
  line: "Zeile {line}",
  done: {
    one: "{count} Zeile ist schon erledigt. Danach geht es weiter.",
    other: "{count} Zeilen sind schon erledigt. Danach geht es weiter."
  },
  goOn: "Weiter",
  make: { one: "{count} Link anlegen", other: "{count} Links anlegen" },
  back: "Zurück",
  minting: "Wird geprägt…",
  made: { one: "{count} Link angelegt", other: "{count} Links angelegt" },
  progress: "Zeilen",
  underWay: "Der Import läuft.",
  over: {
    one: "Der Import ist fertig: {count} Link angelegt.",
    other: "Der Import ist fertig: {count} Links angelegt."
  },
  waitsForService: "Der Dienst ist nicht zu erreichen. Sobald er es ist, geht es weiter.",
  waitsForQuota: "Das Kontingent ist zurzeit aufgebraucht. Sobald es wieder da ist, geht es weiter.",
  present: {
    one: "{count} Link war schon da, von einem früheren Lauf.",
    other: "{count} Links waren schon da, von einem früheren Lauf."
  },
  again: {
    one: "Mit derselben Datei geht es nach {count} Zeile weiter.",
    other: "Mit derselben Datei geht es nach {count} Zeilen weiter."
  },
  stop: "Abbrechen",
  see: "Die Links ansehen",
  more: "Weitere anlegen",
  saveRejected: "Was nicht angelegt wurde"
} satisfies typeof english
