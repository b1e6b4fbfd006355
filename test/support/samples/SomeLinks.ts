import type { Link } from "../../../src/model/Link.ts"
import { plainRow } from "../Plain.ts"

/** A live link. */
export const linkOf = (key: string, url = `https://example.com/${key}`): Link => ({
  ...plainRow,
  key,
  url,
  custom: false,
  createdAt: 1_700_000_000_000,
  updatedAt: 1_700_000_000_000
})
