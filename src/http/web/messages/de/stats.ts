import type english from "../en/stats.ts"

export default {
  title: "Statistik",
  links: "Links",
  visits: "Besuche",
  byPeople: "Von Menschen",
  byBots: "Von Bots",
  busiestHour: "Beste Stunde",
  busiestDay: "Bester Tag",
  visitors: "Besucher",
  visitorsSummed: "Besucher je Tag, summiert",
  visitorsText:
    "Besucher sind die verschiedenen Menschen jedes Tages (UTC), auf etwa ±{percent} % genau. Wer an zwei Tagen kommt, zählt an beiden.",
  visitorsCounted: { one: "{count} Besucher", other: "{count} Besucher" },
  time: "Zeitraum",
  range: { day: "24 Stunden", week: "7 Tage", month: "30 Tage", quarter: "90 Tage", year: "Ein Jahr" },
  none: {
    day: "Keine Besuche in den letzten 24 Stunden",
    week: "Keine Besuche in den letzten 7 Tagen",
    month: "Keine Besuche in den letzten 30 Tagen",
    quarter: "Keine Besuche in den letzten 90 Tagen",
    year: "Keine Besuche im letzten Jahr"
  },
  noneByPeople: {
    day: "Keine Besuche von Menschen in den letzten 24 Stunden",
    week: "Keine Besuche von Menschen in den letzten 7 Tagen",
    month: "Keine Besuche von Menschen in den letzten 30 Tagen",
    quarter: "Keine Besuche von Menschen in den letzten 90 Tagen",
    year: "Keine Besuche von Menschen im letzten Jahr"
  },
  noneOn: "Keine Besuche am {first}",
  noneByPeopleOn: "Keine Besuche von Menschen am {first}",
  noneFrom: "Keine Besuche vom {first} bis zum {last}",
  noneByPeopleFrom: "Keine Besuche von Menschen vom {first} bis zum {last}",
  noneText: "Besuche erscheinen hier innerhalb einer Sekunde.",
  from: "Von",
  to: "bis",
  bots: "Bots",
  imported: {
    one: "{count} Besuch, bevor der Link hierher kam.",
    other: "{count} Besuche, bevor der Link hierher kam."
  },
  importedWithBots: {
    one: "{count} Besuch, bevor der Link hierher kam, davon {bots} von Bots.",
    other: "{count} Besuche, bevor der Link hierher kam, davon {bots} von Bots."
  },
  withoutBots: "Nur Browser, Systeme und Geräte sind ohne Bots gezählt.",
  targets: "Regeln und Varianten",
  referrers: "Herkunft",
  countries: "Länder",
  map: {
    label: "Weltkarte nach Besuchen. Die Zahlen stehen in der Liste der Länder.",
    below: "unter {to}",
    between: "{from} bis {to}",
    above: "{from} und mehr"
  },
  cities: "Städte",
  browsers: "Browser",
  os: "Systeme",
  devices: "Geräte",
  utmSources: "Quellen von Kampagnen",
  utmMediums: "Medien von Kampagnen",
  utmCampaigns: "Kampagnen",
  nothing: "Noch nichts.",
  all: "Alle {count}",
  byHour: "Besuche je Stunde",
  byDay: "Besuche je Tag",
  byDayWithVisitors: "Besuche je Tag, und Besucher (gestrichelt)",
  inTable: "Die Zahlen stehen in der Tabelle darunter.",
  asTable: "Als Tabelle",
  day: "Tag (UTC)",
  hour: "Stunde",
  value: {
    rest: "Andere",
    unknown: "Unbekannt",
    bot: "Bots",
    desktop: "Computer",
    mobile: "Mobiltelefon",
    tablet: "Tablet",
    tv: "Fernseher"
  },
  direct: "Eingetippt oder aus einer App",
  internal: "Dieser Dienst",
  default: "Die lange Adresse",
  before: "Bevor es welche gab",
  rule: "Regel {number}",
  variant: "Variante {number}",
  cityOther: "Andere oder nicht bekannt",
  utmOther: "Keine oder andere"
} satisfies typeof english
