/**
 * The cookie by which the web page tells the service which theme its user has chosen, `light` or `dark`; without a choice there is none. The visitors' pages
 * need it because they run no script.
 */
export const themeCookie = "linkmint_theme"

/** The colours of a page: the system's (`auto`), or those that were chosen. */
export type Theme = "auto" | "light" | "dark"

const pattern = new RegExp(`(?:^|; )${themeCookie}=(light|dark)(?:;|$)`)

/** The colours that a request asks for by its `Cookie` header. */
export const themeOf = (cookies: string | undefined): Theme =>
  cookies === undefined ? "auto" : ((pattern.exec(cookies)?.[1] as Theme | undefined) ?? "auto")
