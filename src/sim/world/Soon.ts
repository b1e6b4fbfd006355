/** A promise that calls back at the moment when it is settled: microtasks are outside of virtual time. */
export class Soon<A> {
  #settled: { readonly value: A } | { readonly error: unknown } | undefined
  readonly #waiting: Array<() => void> = []

  /** The same, to those who know of promises alone, and do not await it. */
  get asPromise(): Promise<A> {
    return this as unknown as Promise<A>
  }

  settle(settled: { readonly value: A } | { readonly error: unknown }) {
    if (this.#settled !== undefined) return
    this.#settled = settled
    this.#waiting.splice(0).forEach((then) => then())
  }

  // oxlint-disable-next-line unicorn/no-thenable -- It stands for a promise, and nobody awaits it.
  then<B>(onValue: (value: A) => B, onError?: (error: unknown) => B): Soon<B> {
    const next = new Soon<B>()
    const go = () => {
      const settled = this.#settled!
      try {
        if ("value" in settled) next.settle({ value: onValue(settled.value) })
        else if (onError === undefined) next.settle(settled)
        else next.settle({ value: onError(settled.error) })
      } catch (error) {
        next.settle({ error })
      }
    }
    if (this.#settled === undefined) this.#waiting.push(go)
    else go()
    return next
  }

  catch<B>(onError: (error: unknown) => B): Soon<A | B> {
    return this.then<A | B>((value) => value, onError)
  }
}
