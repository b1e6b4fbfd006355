import { unlessChosen } from "../../src/model/Link.ts"

/** What tests leave open of a link to be created. */
export const plainDraft = { ...unlessChosen, alias: null, owner: null }

/** What tests leave open of a link's row. */
export const plainRow = { ...unlessChosen, owner: null, deletedAt: null, visitsLeft: null }
