import { wordsOf } from "../language/Language.ts"
import english from "../messages/en/ui.ts"

/** The texts of what many places use. */
export const words = wordsOf("ui", english)
