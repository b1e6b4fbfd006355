import { Effect, Effectable, Exit } from "effect"

/** Calls back once with what became of something, at once or later. `done` must not throw. */
export type Run<A, E> = (done: (exit: Exit.Exit<A, E>) => void) => void

/** How what is waited for is shown where it is traced. */
export type Shown = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const unshown: Shown = (self) => self

/**
 * An effect that waits for one callback and nothing else, so that what is common can have it without a fiber. As an effect it is within its span, and being interrupted stops the
 * waiting, not what was begun.
 */
export class Direct<A, E = never> extends Effectable.Class<A, E> {
  /** Begins it, without a fiber and without a span. */
  readonly run: Run<A, E>
  readonly #shown: Shown

  constructor(run: Run<A, E>, shown: Shown = unshown) {
    super()
    this.run = run
    this.#shown = shown
  }

  override commit(): Effect.Effect<A, E> {
    return this.#shown(Effect.async<A, E>((resume) => this.run(resume)))
  }

  /** The same, of whose answer something is made. Where `f` throws it is a defect. */
  map<B>(f: (a: A) => B, shown: Shown = unshown): Direct<B, E> {
    return this.flatMap((a) => Exit.succeed(f(a)), shown)
  }

  /** The same, whose answer can turn out to be a failure. */
  flatMap<B, E1 = never>(f: (a: A) => Exit.Exit<B, E1>, shown: Shown = unshown): Direct<B, E | E1> {
    return new Direct<B, E | E1>(
      (done) =>
        this.run((exit) => {
          let mapped: Exit.Exit<B, E | E1>
          try {
            mapped = Exit.flatMap(exit, f)
          } catch (defect) {
            mapped = Exit.die(defect)
          }
          done(mapped)
        }),
      (self) => shown(this.#shown(self))
    )
  }
}

/** The same, which a fiber has in a way of its own: as a part of the transaction that it is in, for instance. */
export class DirectOr<A, E = never> extends Direct<A, E> {
  readonly #inFiber: Effect.Effect<A, E>

  constructor(run: Run<A, E>, inFiber: Effect.Effect<A, E>) {
    super(run)
    this.#inFiber = inFiber
  }

  override commit(): Effect.Effect<A, E> {
    return this.#inFiber
  }

  override flatMap<B, E1 = never>(f: (a: A) => Exit.Exit<B, E1>, shown: Shown = unshown): Direct<B, E | E1> {
    return new DirectOr<B, E | E1>(super.flatMap(f).run, shown(Effect.flatMap(this.#inFiber, f)))
  }
}

/** Does something with the outcome of an effect, and gives what that gives: without a fiber where the effect needs none. `settle` is called once, also where the effect is interrupted. */
export const settled = <A, E, B, E1>(
  self: Effect.Effect<A, E>,
  settle: (exit: Exit.Exit<A, E>) => Exit.Exit<B, E1>
): Effect.Effect<B, E1> => {
  const inFiber = Effect.uninterruptibleMask((restore) => Effect.flatMap(Effect.exit(restore(self)), settle))
  return self instanceof Direct
    ? new DirectOr<B, E1>((done) => (self as Direct<A, E>).run((exit) => done(settle(exit))), inFiber)
    : inFiber
}
