import { Icon } from "../ui/Icon.tsx"
import { fail } from "../ui/Toasts.tsx"
import { asApiError } from "../api/Client.ts"
import { type Way, ways } from "./Places.ts"
import { go, here } from "./Router.ts"
import { fill } from "../language/fill.tsx"
import { frameWords } from "./words.ts"
import * as Session from "./Session.ts"
import { settings } from "./Settings.ts"
import { theme, themes } from "./Theme.ts"

const ThemeButton = () => {
  const t = frameWords()
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length]!
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={fill(t.changeColours, { now: t[theme.value], next: t[next] })}
      title={fill(t.colours, { now: t[theme.value] })}
      onClick={() => (theme.value = next)}
    >
      <Icon name={theme.value} />
    </button>
  )
}

const signOut = async () => {
  try {
    await Session.end()
    go("/")
  } catch (error) {
    fail(asApiError(error))
  }
}

const Account = () => {
  const t = frameWords()
  const me = Session.me.value
  if (me === undefined) return <span class="account" aria-hidden="true" />
  if (me === null) {
    return (
      <div class="account">
        <a class="quiet" href="/app/sign-in">
          {t.signIn}
        </a>
        {settings.signUp && (
          <a class="button small" href="/app/sign-up">
            {t.signUp}
          </a>
        )}
      </div>
    )
  }
  return (
    <div class="account">
      <a class="who quiet" href="/app/account" title={fill(t.accountOf, { email: me.email })}>
        {me.firstName ?? me.email}
      </a>
      <button type="button" class="quiet" onClick={() => void signOut()}>
        {t.signOut}
      </button>
    </div>
  )
}

const isCurrent = ({ to, with: others = [] }: Way) =>
  to === "/"
    ? here.value.pathname === "/"
    : [to, ...others].some((path) => here.value.pathname.startsWith(path))

/** The top of the page: whose it is, where to go, and who is there. On phones the ways are at the bottom. */
export const Header = () => (
  <header class="header">
    <a class="brand" href="/">
      {settings.brand.logo === undefined ? (
        <Icon name="coin" />
      ) : (
        <img class="icon" src={settings.brand.logo} alt="" width={28} height={28} />
      )}
      {settings.brand.name}
    </a>
    {Session.me.value && (
      <nav class="ways" aria-label={frameWords().places}>
        {ways
          .filter(({ forAdmins }) => forAdmins !== true || Session.me.value?.admin === true)
          .map((way) => (
            <a key={way.to} href={way.to} {...(isCurrent(way) && { "aria-current": "page" as const })}>
              <Icon name={way.icon} />
              {frameWords()[way.name]}
            </a>
          ))}
      </nav>
    )}
    <div class="header-end">
      <ThemeButton />
      <Account />
    </div>
  </header>
)
