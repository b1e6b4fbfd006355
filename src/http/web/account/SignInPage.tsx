import { go } from "../app/Router.ts"
import { SignInForm } from "./SignInForm.tsx"
import { words } from "./words.ts"

/** Begins a session. */
export const SignInPage = () => (
  <section class="narrow">
    <h1>{words().signIn}</h1>
    <SignInForm onDone={() => go("/app/links")} />
  </section>
)
