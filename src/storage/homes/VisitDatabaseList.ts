import { Context } from "effect"

/** Databases of visits that this node speaks to, in their order. By default there are none: visits are with their links. */
export class VisitDatabaseList extends Context.Reference<VisitDatabaseList>()("linkmint/VisitDatabaseList", {
  defaultValue: (): ReadonlyArray<ListedVisitDatabase> => []
}) {}

/** A database of visits, as it is shown. */
export interface ListedVisitDatabase {
  /** From 1 on, in the order of the settings. */
  readonly number: number
  readonly isAway: () => boolean
}

/** Where the visits of keys and names are, where they are not with their links: for those who gather what goes to one database together. */
export class VisitPlaces extends Context.Reference<VisitPlaces>()("linkmint/VisitPlaces", {
  defaultValue: (): VisitPlacesService | undefined => undefined
}) {}

/** See {@link VisitPlaces}. */
export interface VisitPlacesService {
  /** What goes to different lanes does not wait for each other: one for each database. */
  readonly lanes: number
  readonly laneOf: (key: string) => number
  /** The same of a subject that is no link. */
  readonly laneOfName: (name: string) => number
}
