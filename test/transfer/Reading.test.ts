import { FastCheck as fc } from "effect"
import Papa from "papaparse"
import { describe, expect, it } from "vitest"
import { bared, csvLine, guarded, readCsv } from "../../src/transfer/Csv.ts"
import { joinTags, momentOf, splitTags } from "../../src/transfer/Fields.ts"
import { type Entry, read, readLines } from "../../src/transfer/Reading.ts"
import type { SourceName } from "../../src/transfer/Sources.ts"
import { Unreadable } from "../../src/transfer/Unreadable.ts"

const options = { keepsKeys: true, cutsTitles: false }

/** A text in pieces of so many characters. */
async function* inPieces(text: string, length = 7) {
  for (let from = 0; from < text.length; from += length) yield text.slice(from, from + length)
}

const all = async <A>(values: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const list: Array<A> = []
  for await (const value of values) list.push(value)
  return list
}

/** What a text has, read in pieces of several lengths, which must not matter. */
const entriesOf = async (text: string, others: object = {}): Promise<ReadonlyArray<Entry>> => {
  const [one, ...rest] = await Promise.all(
    [1, 7, 5_000].map((length) => all(read(inPieces(text, length), { ...options, ...others })))
  )
  for (const other of rest) expect(other).toEqual(one)
  return one!
}

const linksOf = async (text: string, others: object = {}) =>
  (await entriesOf(text, others)).map(({ faults, link }) => link ?? faults)

const sourceOf = async (text: string) => {
  let told: SourceName | undefined
  await all(read(inPieces(text), { ...options, onSource: (source) => (told = source) }))
  return told
}

/** The cells that a spreadsheet shows of a file: text behind a closing quote continues the cell, and other quotes are text. */
const shownBy = (text: string, separator: string): ReadonlyArray<string> => {
  const cell = new RegExp(
    `(?:"((?:[^"]|"")*)(?:"|$))?([^${separator}\\r\\n]*)(?:[${separator}\\r\\n]|$)`,
    "y"
  )
  const cells: Array<string> = []
  while (cell.lastIndex < text.length) {
    const [, quoted = "", rest = ""] = cell.exec(text)!
    cells.push(quoted.replaceAll('""', '"') + rest)
  }
  return cells
}

describe("CSV", () => {
  const cell = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.stringMatching(/^['=+@\t\r\n",; a-]{0,8}$/),
    fc.constant("")
  )
  const table = fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 6 })

  it("is read as it was written, whatever its cells have and wherever its pieces end", async () => {
    await fc.assert(
      fc.asyncProperty(table, fc.integer({ min: 1, max: 9 }), async (rows, length) => {
        const text = [["a", "b", "c"], ...rows].map(csvLine).join("")
        const records = await all(readCsv(inPieces(text, length)))
        const kept = rows.filter((row) => row.some((one) => one !== "") || row.length > 1)
        expect(records.slice(1).map(({ cells }) => cells.map(bared))).toEqual(kept)
      }),
      { numRuns: 500 }
    )
  })

  it("is read as others read it", async () => {
    await fc.assert(
      fc.asyncProperty(table, async (rows) => {
        const text = Papa.unparse([["a", "b", "c"], ...rows], { newline: "\n" })
        const parsed = Papa.parse<Array<string>>(text, { delimiter: ",", newline: "\n" }).data
        // Papa leaves a lone carriage return in a bare cell, where here it ends the record, as `\r\n` does.
        fc.pre(!rows.flat().some((one) => one.includes("\r")))
        expect((await all(readCsv(inPieces(text)))).map(({ cells }) => cells)).toEqual(parsed)
      }),
      { numRuns: 300 }
    )
  })

  it("keeps formulas from spreadsheets, and gives them back", () => {
    for (const text of ["=1+1", "+4", "-", "@x", "'=1", "''=1", "'a", "'", "a=1"]) {
      expect(bared(guarded(text))).toBe(text)
      expect(guarded(text)).not.toMatch(/^[=+\-@]/)
    }
  })

  it("keeps formulas from spreadsheets also where these separate cells by semicolons or tabs", () => {
    expect(csvLine(["utmSources", "x;=cmd|'/c calc'!A1;y", "1"])).toBe(
      `utmSources,"x;'=cmd|'/c calc'!A1;y",1\r\n`
    )
    for (const text of ["x;=1", "x\t=1", "x\n=1", "x\r\n-1", 'x;"=1', ";'=1", "a;;@x", "x;y", "x\ty"]) {
      expect(bared(guarded(text))).toBe(text)
      for (const separator of [";", "\t"]) {
        for (const shown of shownBy(csvLine(["a", text, "1"]), separator))
          expect(shown).not.toMatch(/^[=+\-@]/)
      }
    }
    fc.assert(
      fc.property(table, fc.constantFrom(",", ";", "\t"), (rows, separator) => {
        const cells = shownBy(rows.map(csvLine).join(""), separator)
        expect(cells.filter((shown) => /^[=+\-@]/.test(shown))).toEqual([])
      }),
      { numRuns: 1_000 }
    )
  })

  it("knows the line of a record, of semicolons and of tabs", async () => {
    const text = 'x;y\r\n"a\r\nb";1\r\n\r\nc;2'
    expect(await all(readCsv(inPieces(text, 1)))).toEqual([
      { line: 1, cells: ["x", "y"] },
      { line: 2, cells: ["a\r\nb", "1"] },
      { line: 5, cells: ["c", "2"] }
    ])
    expect((await all(readCsv(inPieces("\uFEFFx\ty\n1\t2"))))[0]).toEqual({ line: 1, cells: ["x", "y"] })
  })

  it("is refused where a quote is missing, with the line", async () => {
    await expect(all(readCsv(inPieces('a,b\n1,2\n"3,4\n5,6\n')))).rejects.toThrow(
      /^Line 3: a quoted cell does not end/
    )
    await expect(all(readCsv(inPieces('a,b\n1,2\n"3"x,4\n')))).rejects.toThrow(/^Line 3: there is text/)
    await expect(all(readCsv(inPieces(`a,b\n1,2\n"${"x".repeat(2_000_000)}`, 10_000)))).rejects.toThrow(
      /^Line 3: a record is too long/
    )
  })
})

it("tags in a cell come back, whatever is in them", () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[ab|\\,;"\][]{1,5}$/), { maxLength: 4 }), (tags) => {
      expect(splitTags(joinTags(tags))).toEqual(tags)
    }),
    { numRuns: 1_000 }
  )
})

it.each([
  ["2024-02-29", "2024-02-29T00:00:00.000Z"],
  ["2024-02-29 10:20:30", "2024-02-29T10:20:30.000Z"],
  ["2024-02-29 10:20:30.123456+00", "2024-02-29T10:20:30.123Z"],
  ["2024-02-29T10:20:30+0530", "2024-02-29T04:50:30.000Z"],
  ["2024-02-29 10:20 UTC", "2024-02-29T10:20:00.000Z"],
  ["1709202030", "2024-02-29T10:20:30.000Z"],
  ["1709202030123", "2024-02-29T10:20:30.123Z"],
  ["2023-02-29", undefined],
  ["2024-13-01", undefined],
  ["0000-00-00 00:00:00", undefined],
  ["2024-02-29 25:00:00", undefined],
  ["29.02.2024", undefined],
  ["soon", undefined]
])("the moment %s is %s", (text, moment) => expect(momentOf(text)).toBe(moment))

describe("the files of other services", () => {
  it("Bitly: the custom link takes precedence", async () => {
    const csv = `Link,Custom Link,Long URL,Title,Tags,Date Created,Clicks
https://bit.ly/3xYzAb1,,https://example.com/a,First,"news, old",2024-01-01,7
https://bit.ly/3xYzAb2,https://brand.example/launch,https://example.com/b,,,2024-01-02,`
    expect(await sourceOf(csv)).toBe("bitly")
    expect(await linksOf(csv)).toEqual([
      {
        url: "https://example.com/a",
        alias: "3xYzAb1",
        title: "First",
        tags: ["news", "old"],
        imported: { createdAt: "2024-01-01T00:00:00.000Z", visits: 7 }
      },
      {
        url: "https://example.com/b",
        alias: "launch",
        imported: { createdAt: "2024-01-02T00:00:00.000Z" }
      }
    ])
    const json = JSON.stringify({
      links: [
        {
          created_at: "2024-01-01T00:00:00+0000",
          id: "bit.ly/3xY",
          link: "https://bit.ly/3xY",
          custom_bitlinks: ["https://brand.example/one"],
          long_url: "https://example.com/",
          title: "One",
          archived: false,
          tags: ["a,b"]
        }
      ]
    })
    expect(await linksOf(json)).toMatchObject([{ alias: "one", tags: ["a,b"] }])
  })

  it("YOURLS: a table of CSV", async () => {
    const csv = `keyword,url,title,timestamp,ip,clicks
docs,https://example.com/docs,"Docs, all",2020-05-05 10:00:00,127.0.0.1,12`
    expect(await sourceOf(csv)).toBe("yourls")
    expect(await linksOf(csv)).toEqual([
      {
        url: "https://example.com/docs",
        alias: "docs",
        title: "Docs, all",
        imported: { createdAt: "2020-05-05T10:00:00.000Z", visits: 12 }
      }
    ])
  })

  it("YOURLS: a dump of its database, whatever else that has", async () => {
    const dump = `-- MySQL dump 10.13; it's a dump
/*!40101 SET NAMES utf8mb4 */;
CREATE TABLE \`yourls_options\` (\`option_name\` varchar(64) NOT NULL DEFAULT '');
INSERT INTO \`yourls_options\` VALUES (1,'url','a;b (INSERT INTO \\'x\\' VALUES (1);'),(2,'x',NULL);
CREATE TABLE \`yourls_url\` (
  \`keyword\` varchar(100) NOT NULL
);
LOCK TABLES \`yourls_url\` WRITE;
INSERT INTO \`yourls_url\` VALUES ('docs','https://example.com/d?a=\\'1\\'','It''s \\"all\\"; (docs)','2020-05-05 10:00:00','127.0.0.1',12),('next-1','https://example.com/2',NULL,'2021-05-05 10:00:00','::1',0);
INSERT INTO \`yourls_url\` (\`url\`, \`keyword\`) VALUES
('https://example.com/3', 'third'),
('https://example.com/4', 'a.b') ON DUPLICATE KEY UPDATE url = url;
UNLOCK TABLES;`
    expect(await sourceOf(dump)).toBe("yourls")
    const entries = await entriesOf(dump)
    expect(entries.map(({ line, link }) => [line, link])).toEqual([
      [
        9,
        {
          url: "https://example.com/d?a='1'",
          alias: "docs",
          title: `It's "all"; (docs)`,
          imported: { createdAt: "2020-05-05T10:00:00.000Z", visits: 12 }
        }
      ],
      [
        9,
        {
          url: "https://example.com/2",
          alias: "next-1",
          imported: { createdAt: "2021-05-05T10:00:00.000Z", visits: 0 }
        }
      ],
      [11, { url: "https://example.com/3", alias: "third", imported: {} }],
      [12, undefined]
    ])
    expect(entries[3]!.faults).toMatchObject([{ field: "key" }])
    await expect(entriesOf("INSERT INTO `yourls_url` VALUES ('a','b")).rejects.toThrow(/a row does not end/)
  })

  it("Shlink: what its page exports, and what its API answers", async () => {
    const csv = `createdAt,domain,shortCode,shortUrl,longUrl,title,tags,visits
2025-10-09T05:26:23+00:00,s.example,camp,https://s.example/camp,https://example.com/camp,Camp,one|two,4`
    expect(await sourceOf(csv)).toBe("shlink")
    expect(await linksOf(csv)).toEqual([
      {
        url: "https://example.com/camp",
        alias: "camp",
        title: "Camp",
        tags: ["one", "two"],
        imported: { createdAt: "2025-10-09T05:26:23.000Z", visits: 4 }
      }
    ])
    const json = {
      shortUrls: {
        data: [
          {
            shortCode: "12C18",
            shortUrl: "https://s.test/12C18",
            longUrl: "https://example.com/",
            dateCreated: "2016-08-21T20:34:16+02:00",
            visitsSummary: { total: 1029, nonBots: 900, bots: 129 },
            tags: ["games", "tech"],
            meta: { validSince: "2017-01-21T00:00:00+02:00", validUntil: null, maxVisits: 2000 },
            domain: null,
            title: null,
            crawlable: true,
            forwardQuery: false
          }
        ],
        pagination: { currentPage: 1, pagesCount: 1 }
      }
    }
    const expected = [
      {
        url: "https://example.com/",
        alias: "12C18",
        tags: ["games", "tech"],
        validSince: "2017-01-20T22:00:00.000Z",
        maxVisits: 2000,
        crawlable: true,
        forwardQuery: false,
        imported: { createdAt: "2016-08-21T18:34:16.000Z", visits: 1029, bots: 129, visitsLeft: 971 }
      }
    ]
    expect(await linksOf(JSON.stringify(json))).toEqual(expected)
    expect(await linksOf(JSON.stringify(json, null, 2))).toEqual(expected)
    expect(await linksOf(JSON.stringify(json.shortUrls.data[0]))).toEqual(expected)
  })

  it("Shlink: its redirect rules, in the order of their priority, unless one has no counterpart", async () => {
    const condition = (type: string, matchValue: string | null, matchKey: string | null = null) => ({
      type,
      matchKey,
      matchValue
    })
    const rule = (priority: number, ...conditions: ReadonlyArray<object>) => ({
      longUrl: `https://example.com/${priority}`,
      priority,
      conditions
    })
    const linkWith = (...redirectRules: ReadonlyArray<object>) =>
      linksOf(
        JSON.stringify({
          shortCode: "a/b/c",
          longUrl: "https://example.com/",
          hasRedirectRules: true,
          redirectRules
        })
      )
    expect(
      await linkWith(
        rule(
          2,
          condition("device", "ios"),
          condition("language", "de_AT"),
          condition("geolocation-country-code", "at")
        ),
        rule(3, condition("device", "mobile"), condition("ip-address", "192.0.2.*")),
        rule(1, condition("query-param", "1", "a"), condition("any-value-query-param", null, "b")),
        rule(
          4,
          condition("before-date", "2027-01-01T00:00:00+01:00"),
          condition("after-date", "2026-01-01T00:00:00Z")
        ),
        rule(5, condition("ip-address", "2001:db8::/32"))
      )
    ).toEqual([
      {
        url: "https://example.com/",
        alias: "a/b/c",
        rules: [
          { url: "https://example.com/1", when: { query: [{ name: "a", value: "1" }, { name: "b" }] } },
          { url: "https://example.com/2", when: { os: ["iOS"], languages: ["de-AT"], countries: ["AT"] } },
          {
            url: "https://example.com/3",
            when: { devices: ["mobile", "tablet"], networks: ["192.0.2.0/24"] }
          },
          {
            url: "https://example.com/4",
            when: { until: "2027-01-01T00:00:00+01:00", from: "2026-01-01T00:00:00Z" }
          },
          { url: "https://example.com/5", when: { networks: ["2001:db8::/32"] } }
        ],
        imported: {}
      }
    ])
    for (const [conditions, told] of [
      [
        [condition("geolocation-city-name", "Vienna")],
        "geolocation-city-name Vienna has no counterpart here"
      ],
      [[condition("valueless-query-param", null, "b")], "valueless-query-param b has no counterpart here"],
      [[condition("ip-address", "192.*.2.1")], "ip-address 192.*.2.1 has no counterpart here"],
      [
        [condition("language", "de"), condition("language", "en")],
        "language en has no counterpart here beside"
      ]
    ] as const) {
      const [faults] = await linkWith(rule(1, condition("device", "android")), rule(2, ...conditions))
      expect(faults).toEqual([
        { field: "rules", message: expect.stringContaining(`rule 2: the condition ${told}`) }
      ])
    }
  })

  it("Kutt: rows of its database, and what its API answers", async () => {
    const csv = `id,address,banned,banned_by_id,created_at,description,domain_id,expire_in,password,target,updated_at,user_id,visit_count,uuid
1,kutty,f,,2021-03-04 05:06:07.89+00,"Kutt, one",,2999-01-01 00:00:00+00,,https://example.com/k,2021-03-05 05:06:07.89+00,1,3,c0ffee
2,secret,f,,2021-03-04 05:06:07.89+00,,,,$2a$12$abcdefghijklmnopqrstuv,https://example.com/k,,1,3,c0ffee
3,bad-one,t,1,2021-03-04 05:06:07.89+00,,,,,https://example.com/k,,1,3,c0ffee`
    expect(await sourceOf(csv)).toBe("kutt")
    const first = {
      url: "https://example.com/k",
      alias: "kutty",
      title: "Kutt, one",
      expiresAt: "2999-01-01T00:00:00.000Z",
      imported: {
        createdAt: "2021-03-04T05:06:07.890Z",
        updatedAt: "2021-03-05T05:06:07.890Z",
        visits: 3
      }
    }
    expect(await linksOf(csv)).toMatchObject([first, [{ field: "password" }], [{ field: "banned" }]])
    const answered = {
      total: 1,
      data: [
        {
          id: "c0ffee",
          address: "kutty",
          banned: false,
          created_at: "2021-03-04T05:06:07.890Z",
          description: "Kutt, one",
          expire_in: "2999-01-01T00:00:00.000Z",
          link: "https://kutt.it/kutty",
          password: false,
          target: "https://example.com/k",
          updated_at: "2021-03-05T05:06:07.890Z",
          visit_count: 3
        }
      ]
    }
    expect(await linksOf(JSON.stringify(answered))).toEqual([first])
    const lines = `${JSON.stringify(answered.data[0])}\n${JSON.stringify(answered.data[0])}\n`
    expect(await linksOf(lines)).toEqual([first, first])
  })

  it("Dub: its CSV, and what its API answers", async () => {
    const csv = `Short link,Destination URL,Clicks,Created at,Tags
https://dub.sh/try,https://example.com/dub,31,2024-06-01T00:00:00.000Z,"a, b"`
    expect(await sourceOf(csv)).toBe("dub")
    const link = {
      url: "https://example.com/dub",
      alias: "try",
      tags: ["a", "b"],
      imported: { createdAt: "2024-06-01T00:00:00.000Z", visits: 31 }
    }
    expect(await linksOf(csv)).toEqual([link])
    const json = [
      {
        id: "link_1",
        domain: "dub.sh",
        key: "try",
        url: "https://example.com/dub",
        shortLink: "https://dub.sh/try",
        tags: [
          { id: "t1", name: "a", color: "red" },
          { id: "t2", name: "b", color: "red" }
        ],
        clicks: 31,
        archived: true,
        password: null,
        createdAt: "2024-06-01T00:00:00.000Z"
      }
    ]
    expect(await sourceOf(JSON.stringify(json))).toBe("dub")
    expect(await linksOf(JSON.stringify(json))).toEqual([{ ...link, archived: true }])
    expect(await linksOf(JSON.stringify([{ ...json[0], password: "x" }]))).toMatchObject([
      [{ field: "password" }]
    ])
  })
})

describe("files of this service", () => {
  it("are known by their columns, those of former versions too", async () => {
    const csv = `key,shortUrl,url,title,tags,createdAt,expiresAt,maxVisits,hasPassword,visits,bots
abcdefg,http://x/abcdefg,https://example.com/,'=T,"a|b,c",2024-01-01T00:00:00.000Z,,,false,5,2`
    expect(await sourceOf(csv)).toBe("linkmint")
    const link = {
      url: "https://example.com/",
      alias: "abcdefg",
      title: "=T",
      tags: ["a", "b,c"],
      imported: { createdAt: "2024-01-01T00:00:00.000Z", visits: 5, bots: 2 }
    }
    expect(await linksOf(csv)).toEqual([link])
    const json = {
      key: "abcdefg",
      shortUrl: "http://x/abcdefg",
      url: "https://example.com/",
      title: "=T",
      tags: ["a", "b,c"],
      createdAt: "2024-01-01T00:00:00.000Z",
      expiresAt: null,
      hasPassword: false,
      visits: { total: 4, nonBots: 3, bots: 1 },
      importedVisits: { total: 1, nonBots: 0, bots: 1 }
    }
    expect(await linksOf(JSON.stringify([json], null, 2))).toEqual([link])
  })

  it("need no names of columns", async () => {
    expect(await linksOf("https://example.com/1,first\nhttps://example.com/2")).toEqual([
      { url: "https://example.com/1", alias: "first", imported: {} },
      { url: "https://example.com/2", imported: {} }
    ])
  })

  it("can leave their keys, and cut titles that are too long", async () => {
    const csv = `keyword,url,title\na b,https://example.com/1,${"🍃".repeat(300)}`
    expect(await linksOf(csv)).toMatchObject([[{ field: "key" }, { field: "title" }]])
    expect(await linksOf(csv, { keepsKeys: false, cutsTitles: true })).toEqual([
      { url: "https://example.com/1", title: "🍃".repeat(256), imported: {} }
    ])
  })

  it("have titles in one line", async () => {
    const csv =
      'keyword,url,title\nabc,https://example.com/1,"\n  A page\t of\r\n two lines \n"\ndef,https://example.com/2,"\n"'
    expect(await linksOf(csv)).toMatchObject([{ title: "A page of two lines" }, { alias: "def" }])
    expect((await linksOf(csv))[1]).not.toHaveProperty("title")
  })

  it("get tags beside their own", async () => {
    const csv = "url,tags\nhttps://example.com/1,a;old\nhttps://example.com/2,"
    expect(await linksOf(csv, { ...options, tags: ["old", "moved"] })).toMatchObject([
      { tags: ["a", "old", "moved"] },
      { tags: ["old", "moved"] }
    ])
  })
})

describe("what cannot be read", () => {
  const header =
    "key,shortUrl,hasPassword,url,title,tags,expiresAt,maxVisits,visitsLeft,redirectStatus,crawlable,visits,bots"
  it.each([
    ["url", "abc,,,ftp://example.com/"],
    ["url", "abc,,,"],
    ["url", `abc,,,https://example.com/${"x".repeat(2_048)}`],
    ["key", "a b,,,https://example.com/"],
    ["password", "abc,,true,https://example.com/"],
    ["hasPassword", "abc,,maybe,https://example.com/"],
    ["title", `abc,,,https://example.com/,${"x".repeat(257)}`],
    ["title", "abc,,,https://example.com/,a\u0007b"],
    ["tags", `abc,,,https://example.com/,,${Array.from({ length: 21 }, (_, n) => n).join("|")}`],
    ["tags", `abc,,,https://example.com/,,${"x".repeat(65)}`],
    ["tags", "abc,,,https://example.com/,,a||b"],
    ["expiresAt", "abc,,,https://example.com/,,,tomorrow"],
    ["maxVisits", "abc,,,https://example.com/,,,,0"],
    ["maxVisits", "abc,,,https://example.com/,,,,many"],
    ["visitsLeft", "abc,,,https://example.com/,,,,5,6"],
    ["redirectStatus", "abc,,,https://example.com/,,,,,,303"],
    ["crawlable", "abc,,,https://example.com/,,,,,,,perhaps"],
    ["visits", "abc,,,https://example.com/,,,,,,,,-1"],
    ["bots", "abc,,,https://example.com/,,,,,,,,1,2"]
  ])("names the line and the field %s of %j", async (field, row) => {
    const [good, bad, ...others] = await entriesOf(`${header}\nok1,,,https://example.com/\n${row}\n`)
    expect(good).toMatchObject({ line: 2, faults: [] })
    expect(bad).toMatchObject({ line: 3, faults: [{ field }] })
    expect(bad).not.toHaveProperty("link")
    expect(others).toEqual([])
  })

  it("names the lines of JSON that are none", async () => {
    const entries =
      await entriesOf(`{"key":"abc","url":"https://example.com/","shortUrl":"","hasPassword":false}
{"key":

[1]
{"key":"abd","url":"https://example.com/","tags":"a|b"}
{"key":"abe","url":"https://example.com/","tags":[1]}
`)
    expect(entries.map(({ faults, line }) => [line, faults.map(({ message }) => message)])).toEqual([
      [1, []],
      [2, ["is not JSON"]],
      [4, ["is no object"]],
      [5, []],
      [6, ["is not a list of texts"]]
    ])
  })

  it.each([
    ["and ends so", ""],
    ["and goes on", "\n"]
  ])("goes on behind a first line of JSON lines that is broken %s", async (_, end) => {
    const link = '{"key":"abd","url":"https://example.com/","shortUrl":"","hasPassword":false}'
    const entries = await entriesOf(`{"key":\n${link}${end}`)
    expect(entries.map(({ faults, key, line }) => [line, key, faults.map(({ message }) => message)])).toEqual(
      [
        [1, "", ["is not JSON"]],
        [2, "abd", []]
      ]
    )
    const document = `{"data": [\n${link}\n]}`
    expect((await entriesOf(document)).map(({ key }) => key)).toEqual(["abd"])
  })

  it.each([
    ["name,age\nx,1", {}, /^Line 1: no column has the URLs/],
    ["keyword,url\na,b", { source: "kutt" }, /^Line 1: a file of Kutt has a column target/],
    ["[1", {}, /^Line 1: this is not JSON/],
    ['{"data": [\n{"url":"https://example.com/"}\n', {}, /^Line 1: this is not JSON/],
    ['{"a":1}', {}, /^Line 1: no column has the URLs/],
    ["INSERT INTO x VALUES (1);", { source: "kutt" }, /^Line 1: SQL is read of YOURLS/]
  ])("refuses %j whole", async (text, others, message) => {
    const reading = entriesOf(text, others)
    await expect(reading).rejects.toThrow(message)
    await expect(reading).rejects.toBeInstanceOf(Unreadable)
  })
})

it("pasted lines are a URL each, with an alias behind a space, and without empty ones", async () => {
  const text = "https://example.com/1\n\n example.com/2 second\nmailto:me@example.com\n"
  expect(await all(readLines(text, options))).toMatchObject([
    { place: 0, line: 1, link: { url: "https://example.com/1" } },
    { place: 1, line: 3, link: { url: "https://example.com/2", alias: "second" } },
    { place: 2, line: 4, faults: [{ field: "url", message: "is no http or https URL" }] }
  ])
})
