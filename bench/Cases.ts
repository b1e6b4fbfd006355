import type { Case } from "./Case.ts"
import { bulk, create } from "./cases/creates.ts"
import { databases } from "./cases/databases.ts"
import { growth } from "./cases/growth.ts"
import { hot } from "./cases/hot.ts"
import { buffer, memory, refill } from "./cases/keys.ts"
import { idle } from "./cases/idle.ts"
import { mint } from "./cases/mint.ts"
import { mixed } from "./cases/mixed.ts"
import { nodes } from "./cases/nodes.ts"
import { processes } from "./cases/processes.ts"
import { cold, zipf } from "./cases/redirects.ts"
import { stall } from "./cases/stall.ts"
import { start } from "./cases/start.ts"
import { upgrade } from "./cases/upgrade.ts"

/** All cases, in the order in which they run. */
export const cases: ReadonlyArray<Case> = [
  hot,
  zipf,
  cold,
  create,
  bulk,
  mixed,
  buffer,
  refill,
  memory,
  mint,
  start,
  idle,
  stall,
  processes,
  nodes,
  databases,
  upgrade,
  growth
]
