import * as Iso8601 from "../../model/Iso8601.ts"
import type { User } from "../../storage/accounts/AccountStore.ts"
import type { UserBody } from "../contract/AccountSchemas.ts"

const momentOf = (moment: number | null) => (moment === null ? null : Iso8601.formatMoment(moment))

/** A user as clients see one. */
export const bodyOf = (user: User): typeof UserBody.Type => ({
  id: user.id,
  email: user.email,
  firstName: user.firstName,
  middleName: user.middleName,
  lastName: user.lastName,
  admin: user.isAdmin,
  createdAt: Iso8601.formatMoment(user.createdAt),
  updatedAt: Iso8601.formatMoment(user.updatedAt),
  lastLoginAt: momentOf(user.lastLoginAt),
  disabledAt: momentOf(user.disabledAt)
})
