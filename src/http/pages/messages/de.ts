import type { VisitorWords } from "../Words.ts"

/** The text of the visitors' pages in German. */
export default {
  messages: {
    "no-link": {
      title: "Link nicht gefunden",
      text: "Diesen Kurzlink gibt es nicht, oder er gilt noch nicht.",
      advice:
        "Prüfen Sie ihn Zeichen für Zeichen: Groß- und Kleinschreibung zählt. Oder fragen Sie, von wem Sie ihn haben."
    },
    "no-page": {
      title: "Seite nicht gefunden",
      text: "Unter dieser Adresse gibt es nichts.",
      advice: "Prüfen Sie sie Zeichen für Zeichen, oder gehen Sie dorthin zurück, woher Sie gekommen sind."
    },
    ended: {
      title: "Link beendet",
      text: "Dieser Kurzlink ist abgelaufen, aufgebraucht, gelöscht oder gesperrt.",
      advice: "Von selbst gilt er nicht wieder. Fragen Sie nach einem neuen, von wem Sie ihn haben."
    },
    "too-many-requests": {
      title: "Zu viele Anfragen",
      text: "Aus Ihrem Netz kamen zu viele Anfragen nach Kurzlinks, die es nicht gibt.",
      advice: "Warten Sie eine Minute, und versuchen Sie es dann noch einmal."
    },
    "too-many-passwords": {
      title: "Zu viele Versuche",
      text: "Für diesen Link oder aus Ihrem Netz wurden zu viele Passwörter versucht.",
      advice: "Warten Sie eine Minute, und versuchen Sie es dann noch einmal."
    },
    "owner-limit": {
      title: "Grenze erreicht",
      text: "Für die Links dieses Besitzers ist die Zahl der Besuche für heute erreicht.",
      advice:
        "Der Link gilt innerhalb eines Tages wieder. Oder fragen Sie, von wem Sie ihn haben, wohin er führt."
    },
    "too-long": {
      title: "Adresse zu lang",
      text: "Dieser Kurzlink gibt weiter, was auf das Fragezeichen folgt, und das ist zu lang.",
      advice: "Kürzen Sie, was auf das Fragezeichen folgt, oder lassen Sie es weg."
    },
    "not-understood": {
      title: "Nicht verstanden",
      text: "Der Dienst konnte nicht lesen, was Ihr Browser gesendet hat.",
      advice: "Öffnen Sie den Link noch einmal."
    },
    unavailable: {
      title: "Zurzeit nicht verfügbar",
      text: "Der Dienst kann im Moment nicht antworten. Am Link liegt es nicht.",
      advice: "Warten Sie ein paar Sekunden, und versuchen Sie es dann noch einmal."
    },
    broken: {
      title: "Etwas ist schiefgegangen",
      text: "Das ist ein Fehler des Dienstes, und er wurde aufgezeichnet.",
      advice: "Warten Sie eine Weile, und versuchen Sie es dann noch einmal."
    }
  },
  password: {
    title: "Passwort erforderlich",
    text: "Ein Passwort schützt diesen Kurzlink.",
    wrongTitle: "Falsches Passwort",
    wrong: "Das war nicht das Passwort.",
    label: "Passwort",
    hint: "Wer Ihnen den Link gegeben hat, kennt es.",
    send: "Link öffnen"
  },
  preview: {
    title: "Vorschau",
    text: "Das ist der Kurzlink",
    target: "Er führt zu",
    host: "Der fett gedruckte Teil sagt, wessen Seite es ist.",
    varies: "Andere kann er woandershin führen: je nach Gerät, Sprache oder Land, oder abwechselnd.",
    open: "Link öffnen",
    guarded: "Wohin er führt, schützt ein Passwort.",
    unlock: "Passwort eingeben",
    created: "Erstellt",
    visits: "Besuche"
  },
  frame: {
    home: "Zur Startseite",
    again: "Noch einmal versuchen",
    imprint: "Impressum",
    privacy: "Datenschutz"
  }
} satisfies VisitorWords
