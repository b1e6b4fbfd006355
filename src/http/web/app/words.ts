import { wordsOf } from "../language/Language.ts"
import english from "../messages/en/frame.ts"

/** The texts around every place of the page. */
export const frameWords = wordsOf("frame", english)

/** The name of one of them. */
export type FrameWord = keyof typeof english
