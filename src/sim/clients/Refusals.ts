import { hostOf, ownHost } from "../deployment/FurtherDomains.ts"

/** What is wrong with a create or a change, and what docs/api.md says that it is answered. */
export interface Refusal {
  /** The fields of its body that make it wrong, in place of those that it would have, or beside them. */
  readonly body: Readonly<Record<string, unknown>>
  readonly status: number
  /** The slug of the problem's type, and the field that is blamed. */
  readonly type: string
  readonly path: string
  /** Whether a change can be wrong like this as well. */
  readonly ofChange: boolean
}

const target = (
  type: "invalid-url" | "blocked-target",
  urls: ReadonlyArray<string>
): ReadonlyArray<Refusal> => {
  const status = type === "invalid-url" ? 400 : 422
  const common = { status, type, ofChange: true }
  const other = { url: "https://example.com/fallback", weight: 1 }
  return urls.flatMap((url) => [
    { ...common, body: { url }, path: "url" },
    { ...common, body: { expiredUrl: url }, path: "expiredUrl" },
    { ...common, body: { card: { image: url } }, path: "card.image" },
    {
      ...common,
      body: {
        rules: [
          { ...other, weight: undefined, when: { os: ["iOS"] } },
          { url, when: { devices: ["bot"] } }
        ]
      },
      path: "rules.1.url"
    },
    { ...common, body: { variants: [other, { url, weight: 2 }] }, path: "variants.1.url" }
  ])
}

const fields = (
  ofChange: boolean,
  all: ReadonlyArray<readonly [path: string, body: Readonly<Record<string, unknown>>]>
): ReadonlyArray<Refusal> =>
  all.map(([path, body]) => ({ body, path, status: 400, type: "invalid-request", ofChange }))

const urlMax = 2_048
const url = "https://example.com/rule"

/** The same, where there are further domains. */
export const refusalsOfDomains: ReadonlyArray<Refusal> = target("blocked-target", [
  `http://${hostOf(1)}/alias-1`,
  `https://${hostOf(2).toUpperCase()}:8443/more`
])

/** All that creates and changes are refused for. */
export const refusals: ReadonlyArray<Refusal> = [
  ...target("invalid-url", [
    "",
    "nowhere",
    "ftp://example.com/file",
    "javascript:alert(1)",
    "https://user:secret@example.com/",
    "https://example.com:0/",
    "https://-example.com/",
    "https://example.com/a b",
    `https://example.com/${"a".repeat(urlMax)}`,
    // Too long only as it is stored.
    `https://example.com/${"ä".repeat(urlMax / 4)}`
  ]),
  ...target("blocked-target", [
    `http://${ownHost}/alias-1`,
    `https://${ownHost.toUpperCase()}./`,
    `http://${ownHost}:80/api/v1/links`,
    "http://10.1.2.3/",
    "https://172.16.0.1:8443/path",
    "http://192.168.0.1/",
    "http://169.254.169.254/latest/meta-data",
    "http://2130706433:8080/",
    "http://localhost:3000/",
    "http://[::1]:3000/",
    "https://[fd00::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://printer.local/"
  ]),
  ...fields(true, [
    ["redirectStatus", { redirectStatus: 303 }],
    ["redirectStatus", { redirectStatus: "301" }],
    ["maxVisits", { maxVisits: 0 }],
    ["maxVisits", { maxVisits: 1.5 }],
    ["maxVisits", { maxVisits: 1_000_000_001 }],
    ["expiresAt", { expiresAt: "2001-01-01T00:00:00Z" }],
    ["expiresAt", { expiresAt: "tomorrow" }],
    ["expiresIn", { expiresIn: "P0D" }],
    ["expiresIn", { expiresIn: "PT5M", expiresAt: "2100-01-01T00:00:00Z" }],
    ["validSince", { validSince: "2100-01-02T00:00:00Z", expiresAt: "2100-01-01T00:00:00Z" }],
    ["validSince", { validSince: "2026-02-30T00:00:00Z" }],
    ["tags", { tags: Array.from({ length: 21 }, (_, index) => `tag ${index}`) }],
    ["tags.0", { tags: [""] }],
    ["forwardQuery", { forwardQuery: "yes" }],
    ["forwardPath", { forwardPath: 1 }],
    ["publicStats", { publicStats: "yes" }],
    ["crawlable", { crawlable: [] }],
    ["queryPrecedence", { queryPrecedence: "both" }],
    ["card", { card: {} }],
    ["note", { note: "a".repeat(1_025) }],
    ["rules", { rules: [] }],
    ["rules.0.when", { rules: [{ url, when: {} }] }],
    ["rules.0.when.hours", { rules: [{ url, when: { hours: { timeZone: "UTC" } } }] }],
    [
      "rules.0.when.hours.timeZone",
      { rules: [{ url, when: { hours: { timeZone: "Mars/Base", days: [1] } } }] }
    ],
    ["rules.0.when.networks.1", { rules: [{ url, when: { networks: ["192.0.2.0/24", "192.0.2.0/33"] } }] }],
    [
      "rules.0.when.until",
      { rules: [{ url, when: { from: "2027-01-01T00:00:00Z", until: "2027-01-01T00:00:00Z" } }] }
    ],
    [
      "rules.1.name",
      {
        rules: [
          { url, name: "one", when: { os: ["iOS"] } },
          { url, name: "one", when: { os: ["Linux"] } }
        ]
      }
    ],
    ["rules.0.name", { rules: [{ url, name: "default", when: { os: ["iOS"] } }] }],
    ["variants", { variants: [{ url, weight: 1 }] }],
    [
      "variants.1.weight",
      {
        variants: [
          { url, weight: 1 },
          { url, weight: 0 }
        ]
      }
    ]
  ]),
  ...fields(false, [
    ["alias", { alias: "ab" }],
    ["alias", { alias: "with space" }],
    ["alias", { alias: "a".repeat(65) }],
    ["alias", { alias: "abc/def/ghi/jkl/mno/pqr" }],
    ["alias", { alias: "abc/de" }],
    ["domain", { domain: "nowhere.example.com" }],
    ["imported", { imported: { visits: 3 } }]
  ]).map((one) => (one.path === "imported" ? { ...one, status: 403, type: "forbidden" } : one)),
  ...["api", "Health", "links/more"].map((alias) => ({
    body: { alias },
    status: 400,
    type: "alias-reserved",
    path: "alias",
    ofChange: false
  }))
]

/** Those of changes. */
export const refusedChanges: ReadonlyArray<Refusal> = refusals.filter(({ ofChange }) => ofChange)
