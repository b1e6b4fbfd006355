export default {
  title: "Campaign (UTM parameters)",
  source: "Source",
  medium: "Medium",
  campaign: "Campaign",
  term: "Term",
  content: "Content",
  template: "Template",
  templateHint: "Kept in this browser.",
  noneYet: "None yet",
  none: "None",
  forget: "Forget the template {name}",
  keepAs: "Keep these values as",
  full: "There are {max} templates. Forget one first.",
  name: "Name of the template",
  keep: "Keep",
  leadsTo: "Leads to <target>it</target>"
}
