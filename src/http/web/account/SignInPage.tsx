import { go } from "../app/Router.ts"
import { SignInForm } from "./SignInForm.tsx"

/** Begins a session. */
export const SignInPage = () => (
  <section class="narrow">
    <h1>Sign in</h1>
    <SignInForm onDone={() => go("/app/links")} />
  </section>
)
