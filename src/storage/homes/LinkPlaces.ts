import { Context, Duration, Effect } from "effect"
import * as SoftPermits from "../../fibers/SoftPermits.ts"

/** Where the links of keys are, as far as this node knows: for those who choose keys, or gather what goes to one database together. By default one database has all links. */
export class LinkPlaces extends Context.Reference<LinkPlaces>()("linkmint/LinkPlaces", {
  defaultValue: (): LinkPlacesService => ({
    databases: 1,
    lanes: 1,
    laneOf: () => 0,
    laneOfName: () => 0,
    isOpen: () => true,
    isOpenBeside: () => true
  })
}) {}

/** See {@link LinkPlaces}. */
export interface LinkPlacesService {
  /** Databases that have links. */
  readonly databases: number
  /** What goes to different lanes does not wait for each other: one lane for each database, and a last one for buckets that are being moved. */
  readonly lanes: number
  readonly laneOf: (key: string) => number
  /** The same for what is kept by name: the guard of a create. */
  readonly laneOfName: (name: string) => number
  /**
   * Whether a link can be bound to the key now: its bucket is not being moved, and its database answers. Where no bucket is like that, a bucket that is being moved by a database that answers will do, as the link
   * waits for a moment; where no database answers, any. So keys that will do are never wanting.
   */
  readonly isOpen: (key: string) => boolean
  /** Whether it can be bound together with the guard of that name, in one transaction: one database has both, or will have both when the guard has been moved. */
  readonly isOpenBeside: (key: string, name: string) => boolean
}

/** How many statements of one kind to several databases a node has under way before others wait, and for how long these wait at least. */
const statementsAtOnce = 1
const patience = Duration.millis(20)

/**
 * How many statements of one kind a lane has under way at most, where a node has `all` of them: those of several databases share what one has. With more, each would have fewer rows, and cost more. For
 * the same reason those of all lanes wait for each other (`permits`), but never for long: a database that does not answer holds up no other.
 */
export const lanePace = ({ databases }: Pick<LinkPlacesService, "databases">, all: number) =>
  Effect.map(
    databases === 1 ? Effect.succeed(undefined) : SoftPermits.make(statementsAtOnce, patience),
    (permits) => ({ inFlightMax: Math.ceil(all / databases), permits })
  )
