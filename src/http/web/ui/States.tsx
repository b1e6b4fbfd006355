import type { ComponentChildren } from "preact"
import type { ApiError } from "../api/Client.ts"
import { Rosette } from "./Rosette.tsx"
import { words } from "./words.ts"

/** Something is on its way: `rows` lines of grey. */
export const Loading = ({ rows = 3 }: { readonly rows?: number }) => (
  <div class="loading" role="status">
    <span class="visually-hidden">{words().loading}</span>
    {Array.from({ length: rows }, (_, row) => (
      <div key={row} class="skeleton" />
    ))}
  </div>
)

interface EmptyProps {
  readonly title: string
  /** Whether it is all that the page has. */
  readonly isPage?: boolean
  readonly children?: ComponentChildren
}

/** What is shown where there is nothing, and what to do about it. */
export const Empty = ({ children, isPage = false, title }: EmptyProps) => {
  const Heading = isPage ? "h1" : "h2"
  return (
    <div class="empty">
      <Rosette seed={title} size={96} />
      <Heading>{title}</Heading>
      {children}
    </div>
  )
}

/** Why something is not there, and a way to try again. */
export const Failure = ({ error, retry }: { readonly error: ApiError; readonly retry: () => void }) => (
  <div class="empty" role="alert">
    <h2>{error.kind === "offline" ? words().noConnection : words().failed}</h2>
    <p>{error.message}</p>
    <button type="button" class="button" onClick={retry}>
      {words().again}
    </button>
  </div>
)
