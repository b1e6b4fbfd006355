import { effect, signal } from "@preact/signals"
import { type Theme, themeCookie } from "../../pages/ThemeCookie.ts"
import * as Kept from "./Kept.ts"

/** The looks to choose from; `auto` is the system's. */
export const themes: ReadonlyArray<Theme> = ["auto", "light", "dark"]

const kept = Kept.read<Theme>("theme")

/** The look that was chosen. */
export const theme = signal<Theme>(kept !== undefined && themes.includes(kept) ? kept : "auto")

/** How long the cookie lasts. It is set again whenever the page is opened. */
const year_s = 365 * 24 * 60 * 60

/** Tells the service, whose pages for visitors have the same colours. */
const tell = (theme: Theme) => {
  const age_s = theme === "auto" ? 0 : year_s
  const secure = location.protocol === "https:" ? "; Secure" : ""
  document.cookie = `${themeCookie}=${theme}; Path=/; Max-Age=${age_s}; SameSite=Lax${secure}`
}

effect(() => {
  document.documentElement.dataset["theme"] = theme.value
  Kept.write("theme", theme.value === "auto" ? undefined : theme.value)
  tell(theme.value)
})

const systemIsDark = matchMedia("(prefers-color-scheme: dark)")
const system = signal(systemIsDark.matches)
systemIsDark.addEventListener("change", ({ matches }) => (system.value = matches))

/** Whether the page is dark now. */
export const isDark = () => (theme.value === "auto" ? system.value : theme.value === "dark")
