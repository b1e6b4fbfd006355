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
  if (place.needsSession && me.value === undefined) return <Loading />
  if (place.shown) return <place.shown key={here.value.pathname} />
  if (loaded.state === "failed") return <Failure error={loaded.error} retry={loaded.reload} />
  if (loaded.state === "loading") return <Loading />
  const Component = loaded.value
  return <Component key={here.value.pathname} />
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
        <Page />
      </main>
      <footer class="footer">
        <p>{rich(t.footer, { api: (inner) => <a href="/docs">{inner}</a> })}</p>
        <LanguageChoice />
      </footer>
      <Toasts />
    </>
  )
}
