import { rich } from "../language/fill.tsx"
import { Empty } from "../ui/States.tsx"
import { frameWords } from "./words.ts"

/** What is shown where nothing is. */
export const NotFoundPage = () => (
  <Empty isPage title={frameWords().nothingHere}>
    <p>{rich(frameWords().shortenInstead, { home: (inner) => <a href="/">{inner}</a> })}</p>
  </Empty>
)
