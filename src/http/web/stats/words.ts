import { wordsOf } from "../language/Language.ts"
import english from "../messages/en/stats.ts"

/** The texts of this area. */
export const words = wordsOf("stats", english)
