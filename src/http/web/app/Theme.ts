import { effect, signal } from "@preact/signals"
import * as Kept from "./Kept.ts"

/** The looks to choose from; `auto` is the system's. */
export const themes = ["auto", "light", "dark"] as const
/** See {@link themes}. */
export type Theme = (typeof themes)[number]

const kept = Kept.read<Theme>("theme")

/** The look that was chosen. */
export const theme = signal<Theme>(kept !== undefined && themes.includes(kept) ? kept : "auto")

effect(() => {
  document.documentElement.dataset["theme"] = theme.value
  Kept.write("theme", theme.value === "auto" ? undefined : theme.value)
})

const systemIsDark = matchMedia("(prefers-color-scheme: dark)")
const system = signal(systemIsDark.matches)
systemIsDark.addEventListener("change", ({ matches }) => (system.value = matches))

/** Whether the page is dark now. */
export const isDark = () => (theme.value === "auto" ? system.value : theme.value === "dark")
