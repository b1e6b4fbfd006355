import * as Kept from "../app/Kept.ts"
import type { Memory, Unfinished } from "./importing.ts"

const name = "import"

/** The browser's memory of the import that was cut off, if one was. */
export const memory: Memory = {
  read: () => Kept.read<Unfinished>(name),
  write: (unfinished) => Kept.write(name, unfinished)
}
