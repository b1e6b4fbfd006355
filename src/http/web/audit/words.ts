import { wordsOf } from "../language/Language.ts"
import english from "../messages/en/audit.ts"

/** The texts of this area. */
export const words = wordsOf("audit", english)
