import type english from "../en/audit.ts"

export default {
  title: "Protokoll",
  what: "Was getan wurde",
  all: "Alles, was getan wurde",
  showAllUsers: "Benutzer {user}: alle Benutzer zeigen",
  none: "Es wurde nichts getan",
  entries: "Einträge",
  action: {
    "session.begun": "Angemeldet",
    "session.refused": "Anmeldung gescheitert",
    "session.ended": "Abgemeldet",
    "user.added": "Konto angelegt",
    "user.refused": "Registrierung abgelehnt",
    "user.disabled": "Konto gesperrt",
    "user.enabled": "Konto entsperrt",
    "user.deleted": "Konto gelöscht",
    "admin.granted": "Zum Administrator gemacht",
    "admin.withdrawn": "Nicht mehr Administrator",
    "password.changed": "Passwort geändert",
    "password.refused": "Falsches Passwort",
    "key.added": "API-Schlüssel angelegt",
    "key.revoked": "API-Schlüssel widerrufen",
    "webhook.added": "Webhook angelegt",
    "webhook.removed": "Webhook entfernt",
    "domain.added": "Domain hinzugefügt",
    "domain.changed": "Domain geändert",
    "domain.verified": "Domain nachgewiesen",
    "domain.removed": "Domain entfernt",
    "link.changed": "Fremden Link geändert",
    "link.deleted": "Fremden Link gelöscht",
    "links.deleted": "Alle Links mit einem Konto gelöscht",
    "keys.skipped": "Schlüssel nach einer Wiederherstellung übersprungen"
  },
  by: {
    session: "<user>it</user> in einer Sitzung",
    "api-key": "<user>it</user> mit einem API-Schlüssel",
    "admin-key": "<user>it</user> mit ADMIN_API_KEY",
    command: "<user>it</user> auf der Kommandozeile",
    nothing: "<user>it</user> Unbekannt"
  },
  to: "an <target>it</target>",
  toOf: "an <target>it</target> von <owner>it</owner>",
  fromClient: "von Client <client>it</client>",
  times: { one: "{count} Mal", other: "{count} Mal" }
} satisfies typeof english
