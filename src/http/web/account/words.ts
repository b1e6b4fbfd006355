import { wordsOf } from "../language/Language.ts"
import english from "../messages/en/account.ts"

/** The texts of this area. */
export const words = wordsOf("account", english)
