import type english from "../en/utm.ts"

export default {
  title: "Kampagne (UTM-Parameter)",
  source: "Quelle",
  medium: "Medium",
  campaign: "Kampagne",
  term: "Suchbegriff",
  content: "Inhalt",
  template: "Vorlage",
  templateHint: "Wird in diesem Browser gemerkt.",
  noneYet: "Noch keine",
  none: "Keine",
  forget: "Die Vorlage {name} vergessen",
  keepAs: "Diese Werte merken als",
  full: "Es gibt schon {max} Vorlagen. Zuerst eine vergessen.",
  name: "Name der Vorlage",
  keep: "Merken",
  leadsTo: "Führt zu <target>it</target>"
} satisfies typeof english
