import { wordsOf } from "../language/Language.ts"
import english from "../messages/en/users.ts"

/** The texts of this area. */
export const words = wordsOf("users", english)
