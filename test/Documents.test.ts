import { ConfigProvider, ConfigProviderPathPatch, Effect } from "effect"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { describe, expect, it } from "vitest"
import { parse as parseYaml } from "yaml"
import * as KeyMetrics from "../src/actors/keys/KeyMetrics.ts"
import { fileVariable, secretSettings } from "../src/node/SecretFiles.ts"
import { examples, settings } from "../src/node/Settings.ts"
import { namesOf } from "../src/storage/keys/KeyPoolRedis.ts"
import { nameOf } from "../src/storage/nodes/WitnessRedis.ts"
import { mutants } from "../src/sim/mutants/all.ts"

const root = join(import.meta.dirname, "..")
const read = (file: string) => readFileSync(join(root, file), "utf8")

const documents = [root, join(root, "docs")].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => relative(root, join(folder, name)))
)

/** The anchors of a document's headings, as GitHub makes them. */
const anchorsOf = (markdown: string): ReadonlySet<string> =>
  new Set(
    [...markdown.replaceAll(/^```.*?^```$/gms, "").matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-")
    )
  )

/** What `code` in a document says. */
const codeIn = (markdown: string) => [...markdown.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!)

/** Variables that a library reads. */
const ofLibraries = ["OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"]

const ofTests = ["TEST_DATABASE_URL", "TEST_REDIS_URL", "TEST_SEED"]

/** The variables that the program asks for. */
const variables = (): ReadonlySet<string> => {
  const asked = new Set<string>()
  const nothing = ConfigProvider.fromMap(new Map())
  const asking = ConfigProvider.makeFlat({
    load: (path, config, split) => {
      asked.add(path.join("_"))
      return nothing.flattened.load(path, config, split)
    },
    enumerateChildren: nothing.flattened.enumerateChildren,
    patch: ConfigProviderPathPatch.empty
  })
  Effect.runSync(Effect.either(Effect.withConfigProvider(settings, ConfigProvider.fromFlat(asking))))
  return asked
}

describe("the documents", () => {
  it.each(documents)("%s leads to files and headings that are there", (document) => {
    const links = [...read(document).matchAll(/!?\[([^\]]*)\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)]
    for (const [whole, text = "", path = "", attribute] of links) {
      const target = attribute ?? path
      if (/^[a-z]+:/.test(target)) continue
      const [file, anchor] = target.split("#") as [string, string?]
      const found = file === "" ? document : join(dirname(document), file)
      expect(existsSync(join(root, found)), `${whole} in ${document}`).toBe(true)
      if (anchor !== undefined) expect([...anchorsOf(read(found))], whole).toContain(anchor)
      // A test is named by its title.
      if (/^".*"$/.test(text)) expect(read(found), whole).toContain(text)
    }
  })

  it("tell of every setting, and of none that is not there", () => {
    const table = read("docs/settings.md")
      .split("\n")
      .flatMap((row) => codeIn(/^\| (`[A-Z][^|]*`) \|/.exec(row)?.[1] ?? ""))
    const settable = [...variables(), ...ofLibraries]
    expect([...examples.keys()].toSorted()).toEqual([...variables()].toSorted())
    expect(table.toSorted()).toEqual(settable.toSorted())
    const known = new Set([...settable, ...secretSettings.map(fileVariable), ...ofTests])
    for (const document of documents) {
      const named = codeIn(read(document)).flatMap(
        (code) => /^([A-Z]+_[A-Z_]+)(?:=\S*)?$/.exec(code)?.[1] ?? []
      )
      expect([document, ...named.filter((name) => !known.has(name))]).toEqual([document])
    }
  })

  it("have the changes of the version that package.json has", () => {
    const { version } = JSON.parse(read("package.json")) as { readonly version: string }
    expect(/^## .*$/m.exec(read("CHANGELOG.md"))?.[0]).toBe(`## ${version} (unreleased)`)
  })

  it("name commands that are there", () => {
    const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Record<string, string> }
    for (const document of documents) {
      for (const [, name] of read(document).matchAll(/npm run ([a-z:]+)/g)) {
        expect(Object.keys(scripts), document).toContain(name)
      }
    }
  })

  it("say what to do at each alert, and each alert where", () => {
    const { groups } = parseYaml(read("ops/prometheus/alerts.yml")) as {
      readonly groups: ReadonlyArray<{
        readonly rules: ReadonlyArray<{
          readonly alert: string
          readonly annotations: { readonly runbook?: string }
        }>
      }>
    }
    const rules = groups.flatMap((group) => group.rules)
    const sections = [...read("docs/operations.md").matchAll(/^### (Linkmint\w+)$/gm)].map(([, name]) => name)
    expect(sections).toEqual(rules.map(({ alert }) => alert))
    for (const { alert, annotations } of rules) {
      expect(annotations.runbook).toBe(`docs/operations.md#${alert.toLowerCase()}`)
    }
  })

  it("say of each cause why keys were given up, and of no other", () => {
    const [, table] = read("docs/operations.md").split("| `cause` | meaning |\n|---|---|\n")
    const rows = table!.slice(0, table!.indexOf("\n\n")).split("\n")
    expect(rows.map((row) => codeIn(row)[0])).toEqual(Object.keys(KeyMetrics.lost))
  })

  it("delete in Redis what is of one deployment, and all of that", () => {
    const [, pattern] = /--scan --pattern ["'](\S+)["'] /.exec(read("docs/operations.md"))!
    const isDeleted = (name: string) => {
      const [beginning, ...rest] = pattern!.replace("$FORMER", "0123456789ab").split("*")
      expect(rest).toEqual([""])
      return name.startsWith(beginning!)
    }
    const namesIn = (deployment: string) => [
      nameOf(deployment),
      ...[0, 11].flatMap((shard) => Object.values(namesOf(deployment, shard)))
    ]
    expect(namesIn("0123456789ab").filter((name) => !isDeleted(name))).toEqual([])
    expect(namesIn("ba9876543210").filter(isDeleted)).toEqual([])
  })

  it("name mutants that are there", () => {
    const [, tables] = read("docs/key-pipeline.md").split("| claim | checkers | mutants |")
    const named = codeIn(tables!)
    expect(named.length).toBeGreaterThan(20)
    expect(mutants.map(({ name }) => name)).toEqual(expect.arrayContaining(named))
  })
})
