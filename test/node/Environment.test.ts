import { Either } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { misspelt } from "../../src/node/Environment.ts"
import { fileVariable, read, secretSettings } from "../../src/node/SecretFiles.ts"
import { faultsOf } from "../../src/node/Settings.ts"

const folder = mkdtempSync(join(tmpdir(), "linkmint-secrets-"))
afterAll(() => rmSync(folder, { recursive: true }))

const written = (name: string, text: string) => {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

const faults = (variables: Readonly<Record<string, string>>) =>
  Either.match(read(variables), { onLeft: faultsOf, onRight: () => [] })

describe("secrets in files", () => {
  it.each(secretSettings)("%s_FILE names one, whose last line ends or does not", (name) => {
    for (const end of ["", "\n", "\r\n"]) {
      const file = written(name, `secret of ${name}${end}`)
      expect(Either.getOrThrow(read({ [fileVariable(name)]: file })).get(name)).toBe(`secret of ${name}`)
    }
  })

  it("are refused by the variable's name where they cannot be read, are empty, or are said twice", () => {
    expect(faults({ KEY_SECRET_FILE: "/nowhere", METRICS_TOKEN_FILE: written("empty", "\n") })).toEqual([
      "KEY_SECRET_FILE names /nowhere, which cannot be read: ENOENT",
      `METRICS_TOKEN_FILE names ${join(folder, "empty")}, which is empty`
    ])
    const file = written("key", "hidden-in-a-file")
    const both = faults({ ADMIN_API_KEY: "hidden-in-the-environment", ADMIN_API_KEY_FILE: file })
    expect(both).toEqual(["ADMIN_API_KEY and ADMIN_API_KEY_FILE cannot both be set"])
    expect(faults({ ADMIN_API_KEY: "given", ADMIN_API_KEY_FILE: " " })).toEqual([])
  })
})

describe("variables that are nearly settings", () => {
  it("are told with the setting that is meant, and others are left alone", () => {
    const given = ["REDIS_URL", "DATABASE_URI", "FAILED_LOOKUP_PER_MINUTE", "KEY_SECRT_FILE"]
    expect(misspelt(Object.fromEntries(given.map((name) => [name, "x"])))).toEqual([
      ["REDIS_URL", "REDIS_URLS"],
      ["DATABASE_URI", "DATABASE_URL"],
      ["FAILED_LOOKUP_PER_MINUTE", "FAILED_LOOKUPS_PER_MINUTE"],
      ["KEY_SECRT_FILE", "KEY_SECRET_FILE"]
    ])
    const others = [
      "PATH",
      "HOME",
      "POST",
      "HOSTNAME",
      "LANG",
      "SHELL",
      "npm_config_host",
      "KUBERNETES_PORT",
      "PORT",
      "REDIS_URLS"
    ]
    expect(misspelt(Object.fromEntries(others.map((name) => [name, "x"])))).toEqual([])
  })
})
