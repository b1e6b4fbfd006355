import type { Evidence } from "../../Evidence.ts"
import { s_us } from "../../world/Time.ts"

/** How long after a node reaches the database again it goes by what it did not know of the domains, at most. */
const domainsRead_us = 2 * s_us

/** Whether a node may not know what has become of the domains, such as that an alias can have several segments, as it has not reached the database: it answers by the first segment, which it has at hand. */
export const domainsUnread =
  ({ silences }: Pick<Evidence, "silences">) =>
  (node: string | undefined, at_us: number): boolean =>
    silences.some(
      ({ by, from_us, until_us }) => by === node && from_us <= at_us && at_us <= until_us + domainsRead_us
    )
