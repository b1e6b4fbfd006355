import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"

const root = join(import.meta.dirname, "..")

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

interface Locked {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly optional?: boolean
  readonly os?: ReadonlyArray<string>
}

const read = (file: string): unknown => JSON.parse(readFileSync(join(root, file), "utf8"))
const { dependencies, devDependencies } = read("package.json") as Manifest
const { packages } = read("package-lock.json") as { readonly packages: Readonly<Record<string, Locked>> }

/** Native parts for other systems than the one that wrote the lock file: npm notes no hash of what it has not loaded. */
const isForOthers = ({ integrity, optional, os }: Locked) =>
  integrity === undefined && optional === true && os !== undefined

describe("the packages", () => {
  it("come from the registry, in exact versions, each with its hash", () => {
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/)
      expect(packages[`node_modules/${name}`]?.version).toBe(version)
    }
    for (const [path, { integrity, resolved }] of Object.entries(packages)) {
      if (path === "" || isForOthers(packages[path]!)) continue
      // Where no place is named, it is the registry that npm is told of.
      expect(resolved ?? "https://registry.npmjs.org/", path).toMatch(/^https:\/\/registry\.npmjs\.org\//)
      expect(integrity, path).toMatch(/^sha512-/)
    }
  })

  it("are all in the bill of materials", () => {
    const bill = JSON.parse(
      execFileSync("npm", ["run", "--silent", "sbom"], { cwd: root, encoding: "utf8", maxBuffer: 2 ** 24 })
    ) as {
      readonly bomFormat: string
      readonly components: ReadonlyArray<{ readonly name: string; readonly version: string }>
    }
    expect(bill.bomFormat).toBe("CycloneDX")
    const named = bill.components.map(({ name, version }) => `${name}@${version}`)
    // The page's own are among those of development: the build puts them into its files.
    const direct = Object.entries({ ...dependencies, ...devDependencies })
    expect(named).toEqual(expect.arrayContaining(direct.map(([name, version]) => `${name}@${version}`)))
  })
})
