import { wordsOf } from "../language/Language.ts"
import english from "../messages/en/links.ts"

/** The texts of this area. */
export const words = wordsOf("links", english)
