import { audit } from "./audit.ts"
import { caches } from "./caches.ts"
import { choices } from "./choices.ts"
import { designs } from "./designs.ts"
import { domains } from "./domains.ts"
import { guards } from "./guards.ts"
import { homes } from "./homes.ts"
import { lifetimes } from "./lifetimes.ts"
import { links } from "./links.ts"
import { losses } from "./losses.ts"
import { minting } from "./minting.ts"
import type { Mutant } from "./Mutant.ts"
import { pools } from "./pools.ts"
import { sessions } from "./sessions.ts"
import { standbys } from "./standbys.ts"
import { statements } from "./statements.ts"
import { users } from "./users.ts"
import { visits } from "./visits.ts"
import { webhooks } from "./webhooks.ts"

/** Every mutant: each breaks a promise, so that a checker must find it within some seeds. */
export const mutants: ReadonlyArray<Mutant> = [
  ...minting,
  ...pools,
  ...links,
  ...choices,
  ...guards,
  ...lifetimes,
  ...caches,
  ...losses,
  ...visits,
  ...users,
  ...webhooks,
  ...audit,
  ...standbys,
  ...sessions,
  ...homes,
  ...statements,
  ...domains,
  ...designs
]
