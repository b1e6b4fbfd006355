import { expect, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { inRepository } from "../../../cluster/Repository.ts"

const folder = inRepository("src/http/web")

const textsOf = (ending: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(join(folder, name), "utf8"))

it("has a rule for the class of each list on the page", () => {
  const rules = textsOf(".css").join("\n")
  const lists = textsOf(".tsx").flatMap((text) =>
    Array.from(text.matchAll(/<[ou]l class="([^"]*)"/g), ([, classes]) => classes!)
  )
  expect(lists).toContain("rows")
  const known = new Set(Array.from(rules.matchAll(/\.([\w-]+)/g), ([, name]) => name!))
  expect(lists.flatMap((classes) => classes.split(" ")).filter((name) => !known.has(name))).toEqual([])
})
