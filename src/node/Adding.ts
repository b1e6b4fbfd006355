import { Context, Effect, Layer, type Scope } from "effect"

/**
 * Adds the services of a layer to a context, in the same scope, so they are released in reverse order. One composed layer would
 * take some 4,000 more steps of a fiber at each start, and the simulation starts many nodes.
 *
 * It also ends whenever it is interrupted: `Layer.merge` and what is made of it start their layers by Effect's `forEach` with `concurrency`, which does not (see `Concurrent`). A node that is
 * told to stop while it starts would stay.
 */
export const adding =
  <Out, E, In>(layer: Layer.Layer<Out, E, In>) =>
  <Has, E1, R>(
    before: Effect.Effect<Context.Context<Has>, E1, R>
  ): Effect.Effect<Context.Context<Has | Out>, E | E1, Exclude<In, Has> | R | Scope.Scope> =>
    Effect.flatMap(before, (context) =>
      Effect.map(Effect.provide(Layer.build(layer), context), (added) => Context.merge(context, added))
    )
