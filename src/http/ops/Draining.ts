import { Context } from "effect"

/** Whether this node is on its way down: it still answers, and wants no more requests. */
export class Draining extends Context.Tag("linkmint/Draining")<
  Draining,
  { readonly isDraining: () => boolean }
>() {}
