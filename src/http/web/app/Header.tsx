import { Icon } from "../ui/Icon.tsx"
import { fail } from "../ui/Toasts.tsx"
import { asApiError } from "../api/Client.ts"
import { type Way, ways } from "./Places.ts"
import { go, here } from "./Router.ts"
import * as Session from "./Session.ts"
import { settings } from "./Settings.ts"
import { theme, themes } from "./Theme.ts"

const names = { auto: "as the system", light: "light", dark: "dark" } as const

const ThemeButton = () => {
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length]!
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={`Colours: ${names[theme.value]}. Change to ${names[next]}`}
      title={`Colours: ${names[theme.value]}`}
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
  const me = Session.me.value
  if (me === undefined) return <span class="account" aria-hidden="true" />
  if (me === null) {
    return (
      <div class="account">
        <a class="quiet" href="/app/sign-in">
          Sign in
        </a>
        {settings.signUp && (
          <a class="button small" href="/app/sign-up">
            Sign up
          </a>
        )}
      </div>
    )
  }
  return (
    <div class="account">
      <a class="who quiet" href="/app/account" title={`The account of ${me.email}`}>
        {me.firstName ?? me.email}
      </a>
      <button type="button" class="quiet" onClick={() => void signOut()}>
        Sign out
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
      <nav class="ways" aria-label="Places">
        {ways
          .filter(({ forAdmins }) => forAdmins !== true || Session.me.value?.admin === true)
          .map((way) => (
            <a key={way.to} href={way.to} {...(isCurrent(way) && { "aria-current": "page" as const })}>
              <Icon name={way.icon} />
              {way.name}
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
