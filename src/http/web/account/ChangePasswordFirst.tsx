import { ChangePasswordForm } from "./ChangePasswordForm.tsx"
import { words } from "./words.ts"

/** Before all else: somebody else may know the password that the user has signed in with. */
export const ChangePasswordFirst = () => (
  <section class="narrow">
    <h1>{words().choose}</h1>
    <p class="lead">{words().chooseText}</p>
    <ChangePasswordForm />
  </section>
)
