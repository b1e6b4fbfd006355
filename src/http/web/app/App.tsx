import { useEffect, useRef } from "preact/hooks"
import { Toasts } from "../ui/Toasts.tsx"
import { Failure, Loading } from "../ui/States.tsx"
import { useLoaded } from "../ui/hooks/useLoaded.ts"
import { rich } from "../language/fill.tsx"
import { LanguageChoice } from "../language/LanguageChoice.tsx"
import { frameWords } from "./words.ts"
import { Header } from "./Header.tsx"
import { online } from "./Online.ts"
import { here } from "./Router.ts"
import { changePasswordFirst, placeOf } from "./Places.ts"
import { me } from "./Session.ts"
import { settings } from "./Settings.ts"
import { SignInFirst } from "./SignInFirst.tsx"

const Page = () => {
  const place = me.value?.passwordChangeRequired === true ? changePasswordFirst : placeOf(here.value.pathname)
  const title = place.title === undefined ? "" : frameWords()[place.title]
  const loaded = useLoaded(place.load, [place.load])
  useEffect(() => {
    const { name } = settings.brand
    document.title = title === "" ? name : `${title} · ${name}`
  }, [title])
  if (place.needsSession && me.value === null) return <SignInFirst title={title} />
  const isSure = !place.needsSession || me.value !== undefined
  if (isSure && place.shown) return <place.shown />
  if (!isSure || loaded.state !== "loaded") {
    return (
      <>
        <h1 class="visually-hidden">{title}</h1>
        {isSure && loaded.state === "failed" ? (
          <Failure error={loaded.error} retry={loaded.reload} />
        ) : (
          <Loading />
        )}
      </>
    )
  }
  const Component = loaded.value
  return <Component />
}

/** The whole page. */
export const App = () => {
  const t = frameWords()
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  const { pathname } = here.value
  useEffect(() => {
    // So that keyboards and screen readers go on at the new place's beginning.
    if (!isFirst.current) main.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [pathname])
  return (
    <>
      <a class="skip" href="#main">
        {t.skip}
      </a>
      <Header />
      {!online.value && (
        <p class="offline" role="status">
          {t.offline}
        </p>
      )}
      <main id="main" tabIndex={-1} ref={main}>
        {/* As new at each address, so that nothing of the former place is left while this one loads. */}
        <Page key={pathname} />
      </main>
      <footer class="footer">
        <p>{rich(t.footer, { api: (inner) => <a href="/docs">{inner}</a> })}</p>
        <LanguageChoice />
      </footer>
      <Toasts />
    </>
  )
}
