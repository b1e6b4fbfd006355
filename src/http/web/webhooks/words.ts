import { wordsOf } from "../language/Language.ts"
import english from "../messages/en/webhooks.ts"

/** The texts of this area. */
export const words = wordsOf("webhooks", english)
