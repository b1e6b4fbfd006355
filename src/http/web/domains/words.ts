import { wordsOf } from "../language/Language.ts"
import english from "../messages/en/domains.ts"

/** The texts of this area. */
export const words = wordsOf("domains", english)

/** The targets of a domain, in the order in which they are shown. */
export const targetNames = ["home", "unknown", "expired", "usedUp", "pending"] as const
