import { Options } from "@effect/cli"
import { Effect } from "effect"
import { AccountStore, type User } from "../storage/accounts/AccountStore.ts"
import { Refused } from "./Refused.ts"

/** `--email`: whom a command is about. */
export const email = Options.text("email").pipe(Options.withDescription("The user's e-mail address"))

/** The user with an address. */
export const userOf = (email: string) =>
  Effect.flatMap(AccountStore, (store) => store.userByEmail(email)).pipe(
    Effect.filterOrFail(
      (user): user is User => user !== null,
      () => new Refused({ message: `There is no user with the e-mail address ${email}.` })
    )
  )
