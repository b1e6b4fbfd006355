// Why a file, or a link in it, is not imported, in English, with `{name}` for each value.

/** The texts that a template can become; see `model/Messages`. */
type Filled<Template extends string> = Template extends `${infer Before}{${string}}${infer After}`
  ? `${Before}${string}${Filled<After>}`
  : Template

/** Why a file cannot be read at all. */
export const unreadableMessages = [
  "here, or soon after, the text is not UTF-8",
  "this is not JSON",
  "a JSON document may have 64 MiB; write one object a line instead (jq -c '.[]')",
  "the line is too long",
  "there is no list of links",
  "no column has the URLs of links",
  "a file of {source} has a column {columns}; this one has none",
  "SQL is read of YOURLS, not of {source}",
  "a record is too long; is a quote missing?",
  "there is text behind the closing quote of a cell",
  "a quoted cell does not end",
  "a row is too long; is a quote missing?",
  "there is text behind the end of a value",
  "a row does not end"
] as const
/** See {@link unreadableMessages}. */
export type UnreadableMessage = Filled<(typeof unreadableMessages)[number]>

/** Why an entry of a file is no link. A field's fault follows the field's name. */
export const entryMessages = [
  "is not JSON",
  "is no object",
  "is missing",
  "is not a text",
  "is not a list of texts",
  "is not a list of objects in JSON",
  "has control characters",
  "has more than {max} characters",
  "has more than {max} tags",
  "has an empty tag",
  "has a tag of more than {max} characters",
  "is no date: {text}",
  "is no http or https URL",
  "must be a whole number from {min} to {max}",
  "must be true or false",
  "must be append, request or target",
  "must be 301, 302, 307 or 308",
  "cannot be a key here: it must have 1 to 64 characters of A-Z, a-z, 0-9, - and _, in up to 5 segments with a slash between them",
  "is more than visits",
  "is more than maxVisits",
  "is not in the file: without one the link would be open to everybody",
  "is true: the link is blocked where it comes from",
  "rule {number}: the condition {condition} has no counterpart here",
  "rule {number}: the condition {condition} has no counterpart here beside another one of its kind"
] as const
/** See {@link entryMessages}. */
export type EntryMessage = Filled<(typeof entryMessages)[number]>
