import type english from "../en/extras.ts"

export default {
  more: "Notiz, Pfade, Vorschaukarte, nach dem Ende",
  routing: "Regeln und Varianten",
  note: "Notiz",
  noteHint: "Besucher sehen sie nie.",
  expiredUrl: "Nach dem Ende",
  expiredUrlHint: "Wohin Besucher dann geleitet werden. Leer: Eine Seite sagt es ihnen.",
  cardTitle: "Überschrift",
  cardTitleHint: "Was Chats und soziale Netze vom Link zeigen.",
  cardDescription: "Beschreibung",
  cardImage: "Bild",
  cardImageHint: "Die Adresse eines Bildes.",
  forwardPath: "Den Pfad hinter dem Kurzlink anhängen",
  forwardQuery: "Die Parameter des Kurzlinks weitergeben",
  sameParameter: "Gleicher Parameter in beiden",
  append: "Beide bleiben",
  request: "Der des Kurzlinks bleibt",
  target: "Der der langen Adresse bleibt",
  archived: "Archiviert",
  archivedText: "leitet weiter, ohne in der Liste zu stehen",
  path: "Pfad",
  pathAppended: "wird angehängt",
  query: "Parameter",
  requestHolds: "die des Kurzlinks gelten",
  targetHolds: "die der langen Adresse gelten",
  card: "Karte"
} satisfies typeof english
