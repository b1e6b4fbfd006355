import { signal } from "@preact/signals"
import * as Accounts from "../api/Accounts.ts"
import { onError } from "../api/Client.ts"
import type { Me } from "../api/Types.ts"
import { say } from "../ui/Toasts.tsx"
import * as Kept from "./Kept.ts"
import { frameWords } from "./words.ts"

/** Who is signed in: `null` for nobody, `undefined` while that is not known yet. */
export const me = signal<Me | null | undefined>(undefined)

/** The cookie cannot be read by scripts. So this browser remembers whether there may be one, and newcomers are not asked for. */
const hint = "signedIn"

/** Asks who is signed in. */
export const load = async (): Promise<void> => {
  if (Kept.read<boolean>(hint) !== true) {
    me.value = null
    return
  }
  try {
    me.value = await Accounts.me()
  } catch {
    // Where the service does not answer, one is told so by whatever is asked for next.
    me.value = null
  }
}

/** Begins a session. */
export const begin = async (email: string, password: string): Promise<void> => {
  await Accounts.signIn(email, password)
  Kept.write(hint, true)
  me.value = await Accounts.me()
}

/** Changes the password of who is signed in. */
export const changePassword = async (
  current: string,
  password: string,
  revokesKeys: boolean
): Promise<void> => {
  await Accounts.changePassword(current, password, revokesKeys)
  me.value = await Accounts.me()
}

const forget = () => {
  Kept.write(hint, undefined)
  me.value = null
}

/** Ends it. */
export const end = async (): Promise<void> => {
  await Accounts.signOut()
  forget()
}

/** Deletes the account of who is signed in. */
export const deleteAccount = async (links: Accounts.LinkFate): Promise<void> => {
  await Accounts.deleteMe(links)
  forget()
}

onError.handle = ({ kind }) => {
  if (kind !== "unauthorized" || Kept.read<boolean>(hint) !== true) return
  forget()
  // A cookie that opens nothing would have every request refused, also what needs none.
  void Accounts.signOut().catch(() => {})
  say(frameWords().sessionEnded)
}
