import { useEffect, useState } from "preact/hooks"

/** A value as it was when it last stayed the same for `wait_ms`. */
export const useDebounced = <A>(value: A, wait_ms: number): A => {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), wait_ms)
    return () => clearTimeout(timer)
  }, [value, wait_ms])
  return settled
}
