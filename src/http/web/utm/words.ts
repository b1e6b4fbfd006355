import { wordsOf } from "../language/Language.ts"
import english from "../messages/en/utm.ts"

/** The texts of this area. */
export const words = wordsOf("utm", english)
