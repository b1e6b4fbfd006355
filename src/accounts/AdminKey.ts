import { Context, type Option, type Redacted } from "effect"

/** The administrator's API key. Only its digest is kept. */
export class AdminKey extends Context.Tag("linkmint/AdminKey")<
  AdminKey,
  {
    /** SHA-256 of the key in hexadecimal digits. */
    readonly digest: string
    /** The key itself, if this start drew it: to be shown once. */
    readonly drawn: Option.Option<Redacted.Redacted>
  }
>() {}
