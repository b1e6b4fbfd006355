import { Effect } from "effect"

/** A call of one operation of a port. */
export interface Operation {
  /** The port's name and the operation's: `KeyPool.push`. */
  readonly operation: string
  /** Empty where the operation is an effect without arguments. */
  readonly args: ReadonlyArray<unknown>
}

type AnyEffect = Effect.Effect<unknown, unknown>

type Member = AnyEffect | ((...args: ReadonlyArray<unknown>) => AnyEffect)

/**
 * Wraps every operation of a port: `f` gets each call, and the effect that the port gives for it, which is not asked
 * for before the effect of `f` runs. Members that are neither effects nor functions stay as they are.
 */
export const mapOperations = <S extends object>(
  name: string,
  port: S,
  f: (call: Operation, effect: AnyEffect) => AnyEffect
): S =>
  Object.fromEntries(
    Object.entries(port as Readonly<Record<string, Member>>).map(([method, member]): [string, unknown] => {
      const operation = `${name}.${method}`
      if (Effect.isEffect(member)) return [method, f({ operation, args: [] }, member)]
      if (typeof member !== "function") return [method, member]
      const call = (...args: ReadonlyArray<unknown>) =>
        f(
          { operation, args },
          Effect.suspend(() => member(...args))
        )
      return [method, call]
    })
  ) as S
