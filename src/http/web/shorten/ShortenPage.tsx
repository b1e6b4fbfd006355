import { useState } from "preact/hooks"
import type { Link } from "../api/Types.ts"
import { ownSeed } from "../../pages/Emblem.ts"
import { me } from "../app/Session.ts"
import { settings } from "../app/Settings.ts"
import { rich } from "../language/fill.tsx"
import { Rosette } from "../ui/Rosette.tsx"
import { Minted } from "./Minted.tsx"
import { Recent } from "./Recent.tsx"
import { remember } from "./recentLinks.ts"
import { ShortenForm } from "./ShortenForm.tsx"
import { words } from "./words.ts"
import "./shorten.css"

/** How far the rosette's waves move with each character that is typed, in radians. */
const turnPerCharacter = 0.12

const SignInAsked = () => (
  <p class="lead">
    {rich(settings.signUp ? words().signInOrUpAsked : words().signInAsked, {
      in: (inner) => <a href="/app/sign-in">{inner}</a>,
      up: (inner) => <a href="/app/sign-up">{inner}</a>
    })}
  </p>
)

/** The first page: a long URL in, a short link out. */
export const ShortenPage = () => {
  const [link, setLink] = useState<Link>()
  const [typed, setTyped] = useState("")
  const isAllowed = settings.anonymousCreates || me.value !== null
  const made = (link: Link) => {
    if (me.value === null) remember(link)
    setTyped("")
    setLink(link)
  }
  return (
    <>
      <div class="press-rosette">
        <Rosette seed={link?.key ?? ownSeed} size={560} turn={typed.length * turnPerCharacter} />
      </div>
      <section class="intro">
        <h1>
          {words().heading}
          <br />
          {words().headingEnd}
        </h1>
        {link === undefined &&
          (isAllowed ? <ShortenForm onType={setTyped} onMade={made} /> : <SignInAsked />)}
      </section>
      {link && <Minted link={link} onAnother={() => setLink(undefined)} />}
      {me.value === null && <Recent except={link?.key} />}
    </>
  )
}
