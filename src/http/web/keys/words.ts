import { wordsOf } from "../language/Language.ts"
import english from "../messages/en/keys.ts"

/** The texts of this area. */
export const words = wordsOf("keys", english)
