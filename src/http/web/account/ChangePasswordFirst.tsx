import { ChangePasswordForm } from "./ChangePasswordForm.tsx"

/** Before all else: somebody else may know the password that the user has signed in with. */
export const ChangePasswordFirst = () => (
  <section class="narrow">
    <h1>Choose your own password</h1>
    <p class="lead">
      Somebody else has seen the one that you signed in with. Nothing else can be done before.
    </p>
    <ChangePasswordForm />
  </section>
)
