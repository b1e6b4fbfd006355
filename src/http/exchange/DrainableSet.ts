import { type Duration, Effect } from "effect"

/** A set, and a wait until it is empty. */
export interface DrainableSet<A> {
  readonly members: ReadonlySet<A>
  readonly add: (member: A) => void
  readonly remove: (member: A) => void
  /** Waits for at most `max`, also where nothing can be interrupted, as in a finalizer. One waits at a time. */
  readonly empty: (max: Duration.Duration) => Effect.Effect<void>
}

/** See {@link DrainableSet}. */
export const make = <A>(): DrainableSet<A> => {
  const members = new Set<A>()
  let whenEmpty = () => {}
  return {
    members,
    add: (member) => void members.add(member),
    remove: (member) => {
      members.delete(member)
      if (members.size === 0) whenEmpty()
    },
    empty: (max) =>
      Effect.async<void>((resume) => {
        whenEmpty = () => resume(Effect.void)
        if (members.size === 0) whenEmpty()
      }).pipe(Effect.interruptible, Effect.timeoutOption(max), Effect.asVoid)
  }
}
