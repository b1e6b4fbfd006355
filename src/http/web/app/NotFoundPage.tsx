import { Empty } from "../ui/States.tsx"

/** What is shown where nothing is. */
export const NotFoundPage = () => (
  <Empty isPage title="There is nothing here">
    <p>
      <a href="/">Shorten a link</a> instead?
    </p>
  </Empty>
)
