import { wordsOf } from "../language/Language.ts"
import english from "../messages/en/extras.ts"

/** The texts of this area. */
export const words = wordsOf("extras", english)
