import { wordsOf } from "../language/Language.ts"
import english from "../messages/en/shorten.ts"

/** The texts of this area. */
export const words = wordsOf("shorten", english)
