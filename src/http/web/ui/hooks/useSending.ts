import { useState } from "preact/hooks"
import { type ApiError, asApiError } from "../../api/Client.ts"

/** What a form sends, one request at a time: whether one is on its way, and what was wrong with the last one, until the form is changed. */
export const useSending = (send: () => Promise<void>) => {
  const [isSending, setIsSending] = useState(false)
  const [error, setError] = useState<ApiError>()
  const run = async () => {
    setIsSending(true)
    setError(undefined)
    try {
      await send()
    } catch (error) {
      setError(asApiError(error))
    } finally {
      setIsSending(false)
    }
  }
  const onSubmit = (event: Event) => {
    event.preventDefault()
    if (!isSending) void run()
  }
  const onInput = () => setError(undefined)
  return { isSending, error, onSubmit, onInput }
}
