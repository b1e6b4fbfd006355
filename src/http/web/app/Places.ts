import type { ComponentType } from "preact"
import { ShortenPage } from "../shorten/ShortenPage.tsx"
import type { FrameWord } from "./words.ts"
import { domainHostOf, statsKeyOf, webhookIdOf } from "./Paths.ts"

/** A place of the page. What it shows is loaded when somebody goes there. */
export interface Place {
  /** What it is called; `undefined` where the service's name is enough. */
  readonly title: FrameWord | undefined
  readonly needsSession: boolean
  readonly load: () => Promise<ComponentType>
  /** What it shows where that is there from the beginning. */
  readonly shown?: ComponentType
}

const place = (title: Place["title"], needsSession: boolean, load: Place["load"]): Place => ({
  title,
  needsSession,
  load
})

const shorten: Place = {
  ...place(undefined, false, () => Promise.resolve(ShortenPage)),
  shown: ShortenPage
}

// Those of some links are for anybody.
const linkStats = place("statistics", false, () =>
  import("../stats/StatsPage.tsx").then(({ LinkStatsPage }) => LinkStatsPage)
)

const deadLetters = place("deadLetters", true, () =>
  import("../webhooks/DeadLettersPage.tsx").then(({ DeadLettersPage }) => DeadLettersPage)
)

const orphans = place("orphans", true, () =>
  import("../domains/OrphansPage.tsx").then(({ OrphansPage }) => OrphansPage)
)

const places: Readonly<Record<string, Place>> = {
  "/": shorten,
  "/app/links": place("links", true, () =>
    import("../links/LinksPage.tsx").then(({ LinksPage }) => LinksPage)
  ),
  "/app/add": place("add", true, () =>
    import("../import/ImportPage.tsx").then(({ ImportPage }) => ImportPage)
  ),
  "/app/stats": place("statistics", true, () =>
    import("../stats/StatsPage.tsx").then(({ AllStatsPage }) => AllStatsPage)
  ),
  "/app/keys": place("keys", true, () => import("../keys/KeysPage.tsx").then(({ KeysPage }) => KeysPage)),
  "/app/webhooks": place("webhooks", true, () =>
    import("../webhooks/WebhooksPage.tsx").then(({ WebhooksPage }) => WebhooksPage)
  ),
  "/app/domains": place("domains", true, () =>
    import("../domains/DomainsPage.tsx").then(({ DomainsPage }) => DomainsPage)
  ),
  "/app/cluster": place("cluster", true, () =>
    import("../cluster/ClusterPage.tsx").then(({ ClusterPage }) => ClusterPage)
  ),
  "/app/users": place("users", true, () =>
    import("../users/UsersPage.tsx").then(({ UsersPage }) => UsersPage)
  ),
  "/app/audit": place("audit", true, () =>
    import("../audit/AuditPage.tsx").then(({ AuditPage }) => AuditPage)
  ),
  "/app/account": place("account", true, () =>
    import("../account/AccountPage.tsx").then(({ AccountPage }) => AccountPage)
  ),
  "/app/sign-in": place("signIn", false, () =>
    import("../account/SignInPage.tsx").then(({ SignInPage }) => SignInPage)
  ),
  "/app/sign-up": place("signUp", false, () =>
    import("../account/SignUpPage.tsx").then(({ SignUpPage }) => SignUpPage)
  )
}

/** The only place of those who must choose another password before all else. */
export const changePasswordFirst = place("password", true, () =>
  import("../account/ChangePasswordFirst.tsx").then(({ ChangePasswordFirst }) => ChangePasswordFirst)
)

const missing = place("missing", false, () =>
  import("./NotFoundPage.tsx").then(({ NotFoundPage }) => NotFoundPage)
)

/** What is at an address. */
export const placeOf = (path: string): Place => {
  if (statsKeyOf(path) !== undefined) return linkStats
  if (webhookIdOf(path) !== undefined) return deadLetters
  if (domainHostOf(path) !== undefined) return orphans
  return places[path] ?? missing
}

/** A way to a place in the page's navigation. */
export interface Way {
  readonly to: string
  readonly name: FrameWord
  /** Other places that are reached through it. */
  readonly with?: ReadonlyArray<string>
  readonly icon: "mint" | "links" | "chart" | "key" | "cluster" | "users"
  readonly forAdmins?: true
}

/** Where who is signed in can go. */
export const ways: ReadonlyArray<Way> = [
  { to: "/", name: "shorten", icon: "mint" },
  { to: "/app/links", name: "links", icon: "links" },
  { to: "/app/stats", name: "statistics", icon: "chart" },
  { to: "/app/keys", name: "keys", icon: "key", with: ["/app/webhooks"] },
  { to: "/app/cluster", name: "cluster", icon: "cluster", forAdmins: true },
  { to: "/app/users", name: "users", icon: "users", forAdmins: true, with: ["/app/domains", "/app/audit"] }
]
