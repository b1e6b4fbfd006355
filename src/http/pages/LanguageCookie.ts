/** The cookie by which the web page tells the service which language its user has chosen. Without a choice there is none. */
export const languageCookie = "linkmint_language"
