import { wordsOf } from "../language/Language.ts"
import english from "../messages/en/cluster.ts"

/** The texts of this area. */
export const words = wordsOf("cluster", english)
