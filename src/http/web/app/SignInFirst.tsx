import { SignInForm } from "../account/SignInForm.tsx"
import { fill } from "../language/fill.tsx"
import { go, here } from "./Router.ts"
import { frameWords } from "./words.ts"

/** Asks for a session, then shows what was asked for. */
export const SignInFirst = ({ title }: { readonly title: string }) => (
  <section class="narrow">
    <h1>{frameWords().signIn}</h1>
    <p class="lead">{fill(frameWords().whoIsSignedIn, { place: title })}</p>
    <SignInForm onDone={() => go(here.value.pathname + here.value.search, { replaces: true })} />
  </section>
)
