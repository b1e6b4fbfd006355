import { SignInForm } from "../account/SignInForm.tsx"
import { go, here } from "./Router.ts"

/** Asks for a session, then shows what was asked for. */
export const SignInFirst = ({ title }: { readonly title: string }) => (
  <section class="narrow">
    <h1>Sign in</h1>
    <p class="lead">{title} can be seen by who is signed in.</p>
    <SignInForm onDone={() => go(here.value.pathname + here.value.search, { replaces: true })} />
  </section>
)
