import type { Answers } from "../../language/Language.ts"

/** What the service says in English alone. */
export default {
  problems: {
    "invalid-url": "Diese Adresse kann kein Ziel sein.",
    "invalid-request": "Die Angaben sind nicht gültig.",
    "alias-reserved": "Dieses Wort ist reserviert.",
    "password-required": "Ein Passwort ist nötig.",
    unauthorized: "Dafür ist eine Anmeldung nötig.",
    "password-change-required": "Zuerst muss das Passwort geändert werden.",
    "reauthentication-required": "Das Passwort wird noch einmal gebraucht.",
    forbidden: "Das ist nicht erlaubt.",
    "not-found": "Das gibt es hier nicht.",
    "request-timeout": "Die Anfrage kam zu langsam an.",
    "alias-taken": "Dieser Alias ist vergeben.",
    "email-taken": "Mit dieser E-Mail-Adresse gibt es schon ein Konto.",
    "too-many-keys": "Es gibt schon so viele API-Schlüssel, wie es geben darf.",
    "last-administrator": "Das ist der letzte Administrator. Zuerst muss es einen anderen geben.",
    "too-many-webhooks": "Es gibt schon so viele Webhooks, wie es geben darf.",
    "webhook-ended": "Dieser Webhook ist beendet.",
    "webhook-full": "Es warten zu viele Ereignisse auf Webhooks.",
    "domain-taken": "Eine Domain mit diesem Hostnamen gibt es schon.",
    "too-many-domains": "Es gibt schon so viele Domains, wie es geben darf.",
    "aliases-with-capitals": "Die Domain hat Aliase mit Großbuchstaben.",
    "domain-not-proven": "Der Nachweis ist in der Domain nicht zu finden.",
    "idempotency-in-progress": "Die erste Anfrage dieser Art läuft noch.",
    gone: "Dieser Link ist abgelaufen, aufgebraucht, gelöscht oder gesperrt.",
    "payload-too-large": "Das sind zu viele Daten auf einmal.",
    "uri-too-long": "Die Adresse ist zu lang.",
    "unsupported-media-type": "Diese Art von Daten nimmt der Dienst nicht an.",
    "idempotency-mismatch": "Diese Anfrage passt nicht zu der ersten ihrer Art.",
    "blocked-target": "Links zu diesem Ziel sind nicht erlaubt.",
    "rate-limited": "Das waren zu viele Anfragen. Bitte später noch einmal versuchen.",
    "headers-too-large": "Der Browser sendet zu lange Kopfzeilen.",
    internal: "Das ist ein Fehler des Dienstes. Er wurde aufgezeichnet.",
    unavailable: "Der Dienst kann gerade nicht antworten. Bitte noch einmal versuchen.",
    "too-many-streams": "Zu viele sehen gerade zu. Bitte später noch einmal versuchen."
  },
  details: {
    "The e-mail address or the password is wrong.": "Die E-Mail-Adresse oder das Passwort ist falsch.",
    "The account is disabled or gone.": "Das Konto ist gesperrt oder gelöscht.",
    "There is no link with this key.": "Einen Link mit diesem Schlüssel gibt es nicht.",
    "There is no user with this id.": "Einen Benutzer mit dieser Kennung gibt es nicht.",
    "There is no domain with this host.": "Eine Domain mit diesem Hostnamen gibt es nicht.",
    "The answer took too long.": "Die Antwort hat zu lange gedauert.",
    "The keys are being counted.": "Die Schlüssel werden gezählt.",
    "There are too many links to count them beside the requests: npm run admin -- ledger does.":
      "Es sind zu viele Links, um sie neben den Anfragen zu zählen. npm run admin -- ledger zählt sie.",
    "The stores do not tell where all keys are.": "Die Speicher sagen nicht, wo alle Schlüssel sind.",
    "belongs to an account already": "gehört schon zu einem Konto",
    "cannot be more than the visits": "kann nicht mehr sein als die Besuche",
    "cannot stand beside expiresAt": "geht nicht zusammen mit expiresAt",
    "has not been verified yet": "ist noch nicht nachgewiesen",
    "is for its owners alone": "ist nur für ihre Besitzer",
    "is not a domain of this service": "ist keine Domain dieses Dienstes",
    "is not the password": "ist nicht das Passwort",
    "lies too far back: visits are kept by the day for # days":
      "liegt zu weit zurück: Besuche werden # Tage lang nach Tagen aufgehoben",
    "lies too far back: visits are kept by the hour for # days: ask for interval=day":
      "liegt zu weit zurück: Besuche werden # Tage lang nach Stunden aufgehoben, länger nach Tagen",
    "may have # tags at most": "darf höchstens # Schlagwörter haben",
    "may not contain control characters": "darf keine Steuerzeichen enthalten",
    "must be a string": "muss ein Text sein",
    "must be a whole number from # to #": "muss eine ganze Zahl von # bis # sein",
    "must be an e-mail address such as ada@example.com":
      "muss eine E-Mail-Adresse sein, etwa ada@example.com",
    "must be the id of a user": "muss die Kennung eines Benutzers sein",
    "must end before the year #": "muss vor dem Jahr # enden",
    "must have # to # characters": "muss # bis # Zeichen haben",
    "must have at most # characters": "darf höchstens # Zeichen haben",
    "must have a title, a description or an image": "muss einen Titel, eine Beschreibung oder ein Bild haben",
    "must lie before to": "muss davor liegen",
    "must lie in the future, before the year #": "muss in der Zukunft liegen, vor dem Jahr #",
    "must name a scope": "muss ein Recht nennen",
    "must name one event at least": "muss mindestens ein Ereignis nennen",
    "may contain A-Z, a-z, #-#, - and _ only, in up to # segments with a slash between them":
      "darf nur A–Z, a–z, #–#, - und _ enthalten, in bis zu # Teilen mit Schrägstrichen dazwischen",
    "must have # characters at least in each segment": "muss in jedem Teil mindestens # Zeichen haben",
    "must start with http:// or https:// and a host":
      "muss mit http:// oder https:// und einem Hostnamen beginnen",
    "must name a valid host": "muss einen gültigen Hostnamen haben",
    "must have a port from # to #": "muss einen Port von # bis # haben",
    "must not contain a user name or password": "darf weder Benutzername noch Passwort enthalten",
    "must not contain white space, control characters or broken Unicode":
      "darf weder Leerraum noch Steuerzeichen noch kaputtes Unicode enthalten",
    "must not be empty": "darf nicht leer sein",
    "must have at most # characters when it is percent-encoded":
      "darf mit Prozentkodierung höchstens # Zeichen haben",
    "is not a valid URL": "ist keine gültige Adresse",
    "must have # to # characters, none of them a control character":
      "muss # bis # Zeichen haben, ohne Steuerzeichen",
    "may not contain control characters other than line breaks and tabs":
      "darf außer Zeilenumbrüchen und Tabulatoren keine Steuerzeichen enthalten",
    "must lie before the link's end": "muss vor dem Ende des Links liegen",
    "must lie after validSince": "muss nach dem Anfang des Links liegen",
    "must lie after from": "muss nach dem Anfang liegen",
    "must have days, from or until": "muss Tage, einen Anfang oder ein Ende haben",
    "must have a condition": "braucht eine Bedingung",
    "is that of another rule or variant": "gehört schon zu einer anderen Regel oder Variante",
    "must be a time zone such as Europe/Berlin": "muss eine Zeitzone sein, etwa Europe/Berlin",
    "must be an IP address, or a network such as #.#.#.#/#":
      "muss eine IP-Adresse sein oder ein Netz, etwa #.#.#.#/#",
    "must name # networks at most": "darf höchstens # Netze nennen",
    "is required": "wird gebraucht",
    "must be another one than before": "muss ein anderes sein als bisher",
    "may not be made of the e-mail address, the name or this service's name":
      "darf nicht aus der E-Mail-Adresse, dem Namen oder dem Namen dieses Dienstes bestehen",
    "is among the passwords that are guessed first: please choose another one":
      "gehört zu den Passwörtern, die zuerst geraten werden: bitte ein anderes wählen",
    "must be a host name": "muss ein Hostname sein",
    "is the default domain": "ist die Standarddomain",
    "must name each event once": "darf jedes Ereignis nur einmal nennen",
    "must be a language such as de or de-AT": "muss eine Sprache sein, etwa de oder de-AT",
    "must be a country such as DE": "muss ein Land sein, etwa DE",
    "must be a time of day from #:# to #:#": "muss eine Uhrzeit von #:# bis #:# sein"
  }
} satisfies Answers
