import type { Answers } from "../../language/Language.ts"

/** What the service says in English alone. */
export default {
  "The service cannot answer now. Please try again.":
    "Der Dienst kann gerade nicht antworten. Bitte noch einmal versuchen.",
  "The answer took too long.": "Die Antwort hat zu lange gedauert.",
  "This is a fault of the service. It has been logged.":
    "Das ist ein Fehler des Dienstes. Er wurde aufgezeichnet.",
  "The request took too long to come.": "Die Anfrage kam zu langsam an.",
  "The request is not valid HTTP/1.1.": "Die Anfrage ist kein gültiges HTTP/1.1.",
  "The headers may have {max} bytes at most.": "Die Kopfzeilen dürfen höchstens {max} Bytes haben.",
  "There is nothing at this path for this method.": "Unter diesem Pfad gibt es für diese Methode nichts.",
  "There is no such file.": "Diese Datei gibt es nicht.",
  "must name one host": "muss einen einzigen Hostnamen nennen",

  "There is no room for one more request body just now. Please try again.":
    "Der Dienst nimmt gerade keine weiteren Daten an. Bitte noch einmal versuchen.",
  "The request needs the header Content-Type: {type}.":
    "Die Anfrage braucht die Kopfzeile Content-Type: {type}.",
  "The body could not be read.": "Die Daten der Anfrage waren nicht zu lesen.",
  "The body has too much beside its bytes.": "Die Daten der Anfrage haben zu viel Beiwerk.",
  "The body is not valid UTF-8.": "Die Daten der Anfrage sind kein gültiges UTF-8.",
  "The body is not valid JSON: {reason}": "Die Daten der Anfrage sind kein gültiges JSON: {reason}",
  "The body must be a JSON object.": "Die Daten der Anfrage müssen ein Objekt in JSON sein.",
  "The body may have {max} bytes at most.": "Die Anfrage darf höchstens {max} Bytes haben.",
  "The body may have {max} values at most.": "Die Anfrage darf höchstens {max} Werte haben.",
  "The body may have texts of {max} bytes at most.":
    "Die Anfrage darf Texte von höchstens {max} Bytes haben.",
  "The body may have numbers of {max} characters at most.":
    "Die Anfrage darf Zahlen von höchstens {max} Zeichen haben.",
  "The body may be nested {max} levels deep at most.": "Die Anfrage darf höchstens {max} Ebenen tief sein.",
  "The form may have {max} fields at most.": "Das Formular darf höchstens {max} Felder haben.",
  "and {count} more": "und {count} weitere",
  "and more": "und weitere",

  "is required": "wird gebraucht",
  "is not a known field": "ist kein bekanntes Feld",
  "has too many items": "hat zu viele Einträge",
  "may have {max} values at most, at all depths":
    "darf auf allen Ebenen zusammen höchstens {max} Werte haben",
  "must be a string": "muss ein Text sein",
  "must be a string or null": "muss ein Text sein oder null",
  "must be true": "muss true sein",
  "must be true or false": "muss true oder false sein",
  "must be an object": "muss ein Objekt sein",
  "must be a list of strings": "muss eine Liste von Texten sein",
  "must be one of {choices}": "muss eines davon sein: {choices}",
  "must be a whole number from {min} to {max}": "muss eine ganze Zahl von {min} bis {max} sein",
  "must have {min} to {max} characters": "muss {min} bis {max} Zeichen haben",
  "must have {min} to {max} characters, and no control characters":
    "muss {min} bis {max} Zeichen haben, und keine Steuerzeichen",
  "must have {min} to {max} characters, none of them a control character":
    "muss {min} bis {max} Zeichen haben, ohne Steuerzeichen",
  "must have at most {max} characters": "darf höchstens {max} Zeichen haben",
  "may not contain control characters": "darf keine Steuerzeichen enthalten",
  "may not contain control characters other than line breaks and tabs":
    "darf außer Zeilenumbrüchen und Tabulatoren keine Steuerzeichen enthalten",
  "must be an RFC 3339 date-time such as 2027-01-01T00:00:00Z":
    "muss Datum und Uhrzeit nach RFC 3339 sein, etwa 2027-01-01T00:00:00Z",
  "must lie in the years 0 to 9999 of UTC": "muss in den Jahren 0 bis 9999 in UTC liegen",
  "must be an RFC 3339 date-time since 1970 such as 2027-01-01T00:00:00Z":
    "muss Datum und Uhrzeit nach RFC 3339 seit 1970 sein, etwa 2027-01-01T00:00:00Z",
  "must be an RFC 3339 date-time in the future such as 2030-01-01T00:00:00Z":
    "muss Datum und Uhrzeit nach RFC 3339 in der Zukunft sein, etwa 2030-01-01T00:00:00Z",
  "is not a cursor of this service": "ist keine Stelle einer Liste dieses Dienstes",
  "belongs to a list in the order {order}": "gehört zu einer Liste in der Reihenfolge {order}",

  "The e-mail address or the password is wrong.": "Die E-Mail-Adresse oder das Passwort ist falsch.",
  "The session has ended.": "Die Sitzung ist beendet. Bitte neu anmelden.",
  "The API key is not valid.": "Der API-Schlüssel ist nicht gültig.",
  "The Authorization header must be of the form: Bearer KEY.":
    "Die Kopfzeile Authorization muss diese Form haben: Bearer SCHLÜSSEL.",
  "This needs an API key, as X-Api-Key: KEY or Authorization: Bearer KEY, or a session.":
    "Dafür ist eine Anmeldung nötig, oder ein API-Schlüssel.",
  "This needs the scope {scope}.": "Dafür ist das Recht {scope} nötig.",
  "This needs a session that began within 15 minutes. Sign in again: POST /api/v1/session.":
    "Dafür darf die Anmeldung höchstens 15 Minuten her sein. Bitte noch einmal anmelden.",
  "Somebody else may know this password. Choose another one first: PUT /api/v1/me/password.":
    "Dieses Passwort kennt vielleicht noch jemand. Zuerst muss es geändert werden.",
  "A session is accepted only in requests of this service's own pages.":
    "Eine Sitzung gilt nur in Anfragen von Seiten dieses Dienstes.",
  "Sessions begin and end on this service's own pages alone.":
    "Sitzungen beginnen und enden nur auf Seiten dieses Dienstes.",
  "Sessions are managed in a session, or with a key that has the scope admin.":
    "Sitzungen werden in einer Sitzung verwaltet, oder mit einem Schlüssel, der das Recht admin hat.",
  "API keys are managed in a session, or with a key that has the scope admin.":
    "API-Schlüssel werden in einer Sitzung verwaltet, oder mit einem Schlüssel, der das Recht admin hat.",
  "The limit of {limit} is used up. Please try again later.":
    "Die Grenze von {limit} ist erreicht. Bitte später noch einmal versuchen.",

  "The account is gone.": "Das Konto ist gelöscht.",
  "The account is disabled or gone.": "Das Konto ist gesperrt oder gelöscht.",
  "A password is changed in a session, by who has signed in with it.":
    "Ein Passwort ändert in einer Sitzung, wer sich mit ihm angemeldet hat.",
  "An account is deleted in a session, by who has signed in, or by an administrator.":
    "Ein Konto löscht in einer Sitzung, wer sich angemeldet hat, oder ein Administrator.",
  "There is no session with this id.": "Eine Sitzung mit dieser Kennung gibt es nicht.",
  "There is no user with this id.": "Einen Benutzer mit dieser Kennung gibt es nicht.",
  "There is no API key with this id.": "Einen API-Schlüssel mit dieser Kennung gibt es nicht.",
  "There may be {max} API keys at most. Revoke one first.":
    "Es darf höchstens {max} API-Schlüssel geben. Zuerst muss einer widerrufen werden.",
  "You do not have what you would allow: {scopes}.":
    "Rechte, die man selbst nicht hat, kann man nicht vergeben: {scopes}.",
  "Nobody else could manage this service. Make another administrator first.":
    "Das ist der letzte Administrator. Zuerst muss es einen anderen geben.",
  "This account is the service's own. It can be disabled, but not deleted.":
    "Dieses Konto ist das des Dienstes. Es kann gesperrt, aber nicht gelöscht werden.",
  "belongs to an account already": "gehört schon zu einem Konto",
  "is not the password": "ist nicht das Passwort",
  "must be another one than before": "muss ein anderes sein als bisher",
  "is among the passwords that are guessed first: please choose another one":
    "gehört zu den Passwörtern, die zuerst geraten werden: bitte ein anderes wählen",
  "may not be made of the e-mail address, the name or this service's name":
    "darf nicht aus der E-Mail-Adresse, dem Namen oder dem Namen dieses Dienstes bestehen",
  "must be an e-mail address such as ada@example.com": "muss eine E-Mail-Adresse sein, etwa ada@example.com",
  "must be an address of at most {max} characters": "muss eine Adresse von höchstens {max} Zeichen sein",
  "must be a list of scopes": "muss eine Liste von Rechten sein",
  "must name a scope": "muss ein Recht nennen",
  "may have {max} scopes at most": "darf höchstens {max} Rechte haben",
  "must be keep or delete": "muss keep oder delete sein",
  "must say what to change: disabled or admin": "muss sagen, was sich ändert: disabled oder admin",
  "must be the id of a user": "muss die Kennung eines Benutzers sein",

  "must not be empty": "darf nicht leer sein",
  "must not contain white space, control characters or broken Unicode":
    "darf weder Leerraum noch Steuerzeichen noch kaputtes Unicode enthalten",
  "must start with http:// or https:// and a host":
    "muss mit http:// oder https:// und einem Hostnamen beginnen",
  "is not a valid URL": "ist keine gültige Adresse",
  "must not contain a user name or password": "darf weder Benutzername noch Passwort enthalten",
  "must have a port from 1 to 65535": "muss einen Port von 1 bis 65535 haben",
  "must name a valid host": "muss einen gültigen Hostnamen haben",
  "must have at most {max} characters when it is percent-encoded":
    "darf mit Prozentkodierung höchstens {max} Zeichen haben",
  "leads to this service itself ({host})": "führt zu diesem Dienst selbst ({host})",
  "leads to a host that is blocked here ({host})": "führt zu einem Host, der hier gesperrt ist ({host})",
  "leads to a private network ({host})": "führt in ein privates Netz ({host})",

  "There is no link with this key.": "Einen Link mit diesem Schlüssel gibt es nicht.",
  "This link has expired, was used up or deleted, or is blocked.":
    "Dieser Link ist abgelaufen, aufgebraucht, gelöscht oder gesperrt.",
  "The target with this path would have more than {max} characters.":
    "Das Ziel hätte mit diesem Pfad mehr als {max} Zeichen.",
  "The target with this query string would have more than {max} characters.":
    "Das Ziel hätte mit diesen Parametern mehr als {max} Zeichen.",
  "A password guards this link. Send it as the form field password with POST.":
    "Diesen Link schützt ein Passwort. Es wird als Feld password eines Formulars mit POST gesendet.",
  "That was not the password.": "Das war nicht das Passwort.",
  "The links of others are listed for administrators alone.": "Die Links anderer sehen nur Administratoren.",
  '"{alias}" is taken': "„{alias}“ ist vergeben",
  '"{alias}" is reserved': "„{alias}“ ist reserviert",
  "may contain A-Z, a-z, 0-9, - and _ only, in up to {max} segments with a slash between them":
    "darf nur A–Z, a–z, 0–9, - und _ enthalten, in bis zu {max} Teilen mit Schrägstrichen dazwischen",
  "must have {min} characters at least in each segment": "muss in jedem Teil mindestens {min} Zeichen haben",
  "is not a domain of this service": "ist keine Domain dieses Dienstes",
  "is for its owners alone": "ist nur für ihre Besitzer",
  "has not been verified yet": "ist noch nicht nachgewiesen",
  "is for users alone": "ist nur für Benutzer",
  "must be an ISO 8601 duration above zero such as P30D or PT10M":
    "muss eine Dauer nach ISO 8601 über null sein, etwa P30D oder PT10M",
  "must end before the year 10000": "muss vor dem Jahr 10000 enden",
  "must lie in the future, before the year 10000": "muss in der Zukunft liegen, vor dem Jahr 10000",
  "must lie before the link's end": "muss vor dem Ende des Links liegen",
  "must lie after validSince": "muss nach dem Anfang des Links liegen",
  "cannot stand beside {field}": "geht nicht zusammen mit {field}",
  "cannot stand beside addTags and removeTags": "geht nicht zusammen mit addTags und removeTags",
  "cannot lie in the future, nor before 1970": "kann weder in der Zukunft liegen noch vor 1970",
  "cannot lie in the future, nor before createdAt":
    "kann weder in der Zukunft liegen noch vor dem Anlegen (createdAt)",
  "cannot be more than the visits": "kann nicht mehr sein als die Besuche",
  "cannot be more than maxVisits": "kann nicht mehr sein als maxVisits",
  "may have {max} tags at most": "darf höchstens {max} Schlagwörter haben",
  "must be 301, 302, 307 or 308": "muss 301, 302, 307 oder 308 sein",
  "must be append, request or target": "muss append, request oder target sein",
  "must have a title, a description or an image": "muss einen Titel, eine Beschreibung oder ein Bild haben",
  "must be false, true or any": "muss false, true oder any sein",
  "must be createdAt-desc, createdAt-asc, visits-desc or lastVisit-desc":
    "muss createdAt-desc, createdAt-asc, visits-desc oder lastVisit-desc sein",

  "must be a list of {min} to {max} rules": "muss eine Liste von {min} bis {max} Regeln sein",
  "must be a list of {min} to {max} variants": "muss eine Liste von {min} bis {max} Varianten sein",
  "must be a list of {min} to {max} days": "muss eine Liste von {min} bis {max} Tagen sein",
  "must be a list of {min} to {max} devices": "muss eine Liste von {min} bis {max} Geräten sein",
  "must be a list of {min} to {max} systems": "muss eine Liste von {min} bis {max} Systemen sein",
  "must be a list of {min} to {max} languages": "muss eine Liste von {min} bis {max} Sprachen sein",
  "must be a list of {min} to {max} countries": "muss eine Liste von {min} bis {max} Ländern sein",
  "must be a list of {min} to {max} parameters": "muss eine Liste von {min} bis {max} Parametern sein",
  "must be a list of {min} to {max} networks": "muss eine Liste von {min} bis {max} Netzen sein",
  "must be a whole number from 1 (Monday) to 7": "muss eine ganze Zahl von 1 (Montag) bis 7 sein",
  "must be a time of day from 00:00 to 23:59": "muss eine Uhrzeit von 00:00 bis 23:59 sein",
  "must be a time zone such as Europe/Berlin": "muss eine Zeitzone sein, etwa Europe/Berlin",
  "must be a language such as de or de-AT": "muss eine Sprache sein, etwa de oder de-AT",
  "must be a country such as DE": "muss ein Land sein, etwa DE",
  "must be an IP address, or a network such as 192.0.2.0/24":
    "muss eine IP-Adresse sein oder ein Netz, etwa 192.0.2.0/24",
  "must have a condition": "braucht eine Bedingung",
  "must have days, from or until": "muss Tage, einen Anfang oder ein Ende haben",
  "must lie after from": "muss nach dem Anfang liegen",
  'may not be "{name}", which statistics use': "darf nicht „{name}“ sein: das verwendet die Statistik",
  "is that of another rule or variant": "gehört schon zu einer anderen Regel oder Variante",
  "and variants may have {max} characters together at most":
    "und Varianten dürfen zusammen höchstens {max} Zeichen haben",

  "must be a list of 1 to {max} links": "muss eine Liste von 1 bis {max} Links sein",
  "is for users alone in a bulk. Create this link by itself.":
    "ist unter vielen Links nur für Benutzer. Dieser Link muss für sich angelegt werden.",
  "is for {max} links of a bulk at most": "ist unter vielen Links nur für höchstens {max}",
  "must have 1 to 255 printable ASCII characters": "muss 1 bis 255 druckbare ASCII-Zeichen haben",
  "A request with this Idempotency-Key is under way. Please try again.":
    "Eine Anfrage mit diesem Idempotency-Key läuft noch. Bitte noch einmal versuchen.",
  "This Idempotency-Key was used with another request body.":
    "Mit diesem Idempotency-Key gab es schon eine andere Anfrage.",
  "or delete must be there, and not both": "oder delete muss da sein, und nicht beides",
  "must name a field at least": "muss mindestens ein Feld nennen",
  "is set for each link by itself": "wird für jeden Link einzeln gesetzt",
  "would differ in a repeat: use expiresAt": "wäre bei einer Wiederholung anders: dafür gibt es expiresAt",

  "must be hour or day": "muss hour oder day sein",
  "must be include or exclude": "muss include oder exclude sein",
  "must be json or csv": "muss json oder csv sein",
  "must lie before to": "muss davor liegen",
  "must lie within {max} hours of from": "darf höchstens {max} Stunden nach dem Anfang liegen",
  "must lie within {max} days of from": "darf höchstens {max} Tage nach dem Anfang liegen",
  "lies too far back: visits are kept by the hour for {days} days: ask for interval=day":
    "liegt zu weit zurück: Besuche werden {days} Tage lang nach Stunden aufgehoben, länger nach Tagen",
  "lies too far back: visits are kept by the day for {days} days":
    "liegt zu weit zurück: Besuche werden {days} Tage lang nach Tagen aufgehoben",
  "must be svg or png": "muss svg oder png sein",
  "must be six hexadecimal digits, such as 0a6b54": "muss sechs hexadezimale Ziffern haben, etwa 0a6b54",
  "must be none or brand": "muss none oder brand sein",
  "must be none: this service has no logo of its own": "muss none sein: dieser Dienst hat kein eigenes Logo",
  "must be none in PNG: the service's logo cannot be drawn there. SVG can have it":
    "muss bei PNG none sein: das Logo des Dienstes lässt sich dort nicht zeichnen. SVG kann es haben",

  "There is no domain with this host.": "Eine Domain mit diesem Hostnamen gibt es nicht.",
  "There is a domain with this host.": "Eine Domain mit diesem Hostnamen gibt es schon.",
  "There may be {max} domains at most.": "Es darf höchstens {max} Domains geben.",
  "Another domain is being verified. Please try again.":
    "Gerade wird eine andere Domain geprüft. Bitte noch einmal versuchen.",
  "Neither the TXT record of {name} nor the file at {url} is there yet.":
    "Weder der TXT-Eintrag von {name} noch die Datei unter {url} ist schon da.",
  "Aliases of {host} have capital letters: {aliases}. Delete them, or make them anew in lower case, before it ignores case.":
    "Aliase von {host} haben Großbuchstaben: {aliases}. Bevor Groß- und Kleinschreibung gleich gelten, müssen sie gelöscht oder in Kleinbuchstaben neu angelegt werden.",
  "must be a host name": "muss ein Hostname sein",
  "is the default domain": "ist die Standarddomain",
  "must be a list of up to {max} ids of users, or null":
    "muss eine Liste von bis zu {max} Kennungen von Benutzern sein, oder null",
  "must be an object of home, unknown, expired, usedUp and pending, each a URL or null":
    "muss ein Objekt aus home, unknown, expired, usedUp und pending sein, jedes eine Adresse oder null",

  "There is no webhook with this id.": "Einen Webhook mit dieser Kennung gibt es nicht.",
  "There is no dead letter with this id.": "Eine unzustellbare Nachricht mit dieser Kennung gibt es nicht.",
  "There may be {max} webhooks at most. Remove one first.":
    "Es darf höchstens {max} Webhooks geben. Zuerst muss einer entfernt werden.",
  "The API key or the user that made it has ended. Make a new webhook.":
    "Den API-Schlüssel oder Benutzer, der ihn angelegt hat, gibt es nicht mehr. Ein neuer Webhook ist nötig.",
  "Too many events wait already. Try again when some have been delivered.":
    "Es warten schon zu viele Ereignisse. Bitte noch einmal versuchen, wenn einige zugestellt sind.",
  "must be a list of events": "muss eine Liste von Ereignissen sein",
  "must name one event at least": "muss mindestens ein Ereignis nennen",
  "must name each event once": "darf jedes Ereignis nur einmal nennen",
  "It was not delivered in time.": "Es war nicht rechtzeitig zuzustellen.",
  "It leads to a private network.": "Er führt in ein privates Netz.",
  "It did not answer within 10 seconds.": "Innerhalb von 10 Sekunden kam keine Antwort.",
  "It answered {status}.": "Die Antwort war {status}.",
  "It answered {status} without the challenge.": "Die Antwort war {status}, ohne den Prüftext.",
  "The request could not be sent: {cause}.": "Die Anfrage war nicht zu senden: {cause}.",
  "The answer could not be read: {cause}.": "Die Antwort war nicht zu lesen: {cause}.",

  "This node has {max} streams of events open, and no more at a time. Close one, or ask for /api/v1/cluster.":
    "An diesem Knoten sehen schon {max} zu, und mehr können es nicht sein. Bitte später noch einmal versuchen.",
  "Database {number} of links does not answer the node that says this.":
    "Die Datenbank {number} der Links antwortet dem Knoten nicht, der das sagt.",
  "Database {number} of visits does not answer the node that says this.":
    "Die Datenbank {number} der Besuche antwortet dem Knoten nicht, der das sagt.",
  "fsync is off: a crash of the server's machine can lose or spoil everything.":
    "fsync ist aus: ein Absturz des Rechners der Datenbank kann alles verlieren oder verderben.",
  "full_page_writes is off: a crash of the server's machine can spoil pages.":
    "full_page_writes ist aus: ein Absturz des Rechners der Datenbank kann Seiten verderben.",
  "synchronous_commit is off: a crash of the server loses the last creates that were acknowledged.":
    "synchronous_commit ist aus: ein Absturz der Datenbank verliert die letzten Links, die bestätigt sind.",
  "synchronous_commit is local: a failover can lose the last creates that were acknowledged.":
    "synchronous_commit ist local: ein Failover kann die letzten Links verlieren, die bestätigt sind.",
  "No standby is synchronous (synchronous_standby_names): a failover can lose the last creates that were acknowledged.":
    "Keine Replik ist synchron (synchronous_standby_names): ein Failover kann die letzten Links verlieren, die bestätigt sind.",
  "The keys are being counted.": "Die Schlüssel werden gezählt.",
  "There are too many links to count them beside the requests: npm run admin -- ledger does.":
    "Es sind zu viele Links, um sie neben den Anfragen zu zählen. npm run admin -- ledger zählt sie.",
  "The stores do not tell where all keys are.": "Die Speicher sagen nicht, wo alle Schlüssel sind.",

  "here, or soon after, the text is not UTF-8": "der Text ist hier oder bald danach kein UTF-8",
  "this is not JSON": "das ist kein JSON",
  "a JSON document may have 64 MiB; write one object a line instead (jq -c '.[]')":
    "ein Dokument in JSON darf 64 MiB haben; mehr geht mit einem Objekt je Zeile (jq -c '.[]')",
  "the line is too long": "die Zeile ist zu lang",
  "there is no list of links": "eine Liste von Links gibt es darin nicht",
  "no column has the URLs of links": "keine Spalte hat die Adressen von Links",
  "a file of {source} has a column {columns}; this one has none":
    "eine Datei von {source} hat eine Spalte {columns}; diese hat keine",
  "SQL is read of YOURLS, not of {source}": "SQL wird von YOURLS gelesen, nicht von {source}",
  "a record is too long; is a quote missing?": "ein Eintrag ist zu lang; fehlt ein Anführungszeichen?",
  "there is text behind the closing quote of a cell":
    "hinter dem letzten Anführungszeichen einer Zelle ist noch Text",
  "a quoted cell does not end": "eine Zelle in Anführungszeichen endet nicht",
  "a row is too long; is a quote missing?":
    "eine Zeile der Tabelle ist zu lang; fehlt ein Anführungszeichen?",
  "there is text behind the end of a value": "hinter dem Ende eines Wertes ist noch Text",
  "a row does not end": "eine Zeile der Tabelle endet nicht",

  "is not JSON": "ist kein JSON",
  "is no object": "ist kein Objekt",
  "is missing": "fehlt",
  "is not a text": "ist kein Text",
  "is not a list of texts": "ist keine Liste von Texten",
  "is not a list of objects in JSON": "ist keine Liste von Objekten in JSON",
  "has control characters": "hat Steuerzeichen",
  "has more than {max} characters": "hat mehr als {max} Zeichen",
  "has more than {max} tags": "hat mehr als {max} Schlagwörter",
  "has an empty tag": "hat ein leeres Schlagwort",
  "has a tag of more than {max} characters": "hat ein Schlagwort von mehr als {max} Zeichen",
  "is no date: {text}": "ist kein Datum: {text}",
  "is no http or https URL": "ist keine Adresse mit http oder https",
  "cannot be a key here: it must have 1 to 64 characters of A-Z, a-z, 0-9, - and _, in up to 5 segments with a slash between them":
    "kann hier kein Schlüssel sein: er muss 1 bis 64 Zeichen aus A–Z, a–z, 0–9, - und _ haben, in bis zu 5 Teilen mit Schrägstrichen dazwischen",
  "is more than visits": "ist mehr als visits",
  "is more than maxVisits": "ist mehr als maxVisits",
  "is not in the file: without one the link would be open to everybody":
    "ist nicht in der Datei: ohne Passwort stünde der Link allen offen",
  "is true: the link is blocked where it comes from": "ist true: der Link ist dort gesperrt, wo er herkommt",
  "rule {number}: the condition {condition} has no counterpart here":
    "Regel {number}: die Bedingung {condition} hat hier keine Entsprechung",
  "rule {number}: the condition {condition} has no counterpart here beside another one of its kind":
    "Regel {number}: die Bedingung {condition} hat hier neben einer anderen ihrer Art keine Entsprechung"
} satisfies Answers
