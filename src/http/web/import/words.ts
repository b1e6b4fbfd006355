import { wordsOf } from "../language/Language.ts"
import english from "../messages/en/import.ts"

/** The texts of this area. */
export const words = wordsOf("import", english)
