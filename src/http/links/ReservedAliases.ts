/** First path segments that this service has, or keeps for itself. Compared without regard to case. The web page reads this, too. */
const reserved: ReadonlySet<string> = new Set(
  (
    "about account admin api app apps assets auth blog cluster config dashboard docs favicon graphql health help home " +
    "images index js css key keys link links login logout me metrics new null oauth openapi privacy public qr root " +
    "register robots search session settings sign-in sign-up signin signup sitemap static stats status support " +
    "system terms undefined url urls user users well-known www"
  ).split(" ")
)

/** Whether an alias is kept from links: by its first segment. */
export const isReserved = (alias: string): boolean => reserved.has(alias.split("/", 1)[0]!.toLowerCase())
