/** What somebody typed as a URL: an address without a scheme gets https. */
export const addressOf = (text: string): string => {
  const trimmed = text.trim()
  return trimmed === "" || /^[a-z][a-z0-9+.-]*:/i.test(trimmed.replace(/^[^/]*:\d/, ""))
    ? trimmed
    : `https://${trimmed}`
}

/** What an input has for somebody to type such a URL. */
export const addressInput = {
  inputMode: "url",
  autocomplete: "off",
  autocapitalize: "none",
  spellcheck: false
} as const
