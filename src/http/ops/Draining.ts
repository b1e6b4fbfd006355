import { Context } from "effect"

/** Whether this node is shutting down: it still answers, and reports that it is not ready. */
export class Draining extends Context.Tag("linkmint/Draining")<
  Draining,
  { readonly isDraining: () => boolean }
>() {}
