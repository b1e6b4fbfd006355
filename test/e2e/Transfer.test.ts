import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { makeCuttingProxy } from "../support/CuttingProxy.ts"
import { freePort } from "../support/FreePort.ts"
import { ADMIN_API_KEY } from "./ClusterNodes.ts"
import { migratedFolder, run, start, type Variables } from "./Program.ts"

const count = 3_000

/** In the batch with this link the import is held up: amid the file, and not in its first batch. */
const cutAt = 1_250

const dump = `INSERT INTO \`yourls_url\` VALUES ${Array.from(
  { length: count },
  (_, n) =>
    `('key-${n}','https://example.com/${n}','It\\'s ${n}','2020-01-01 00:00:${String(n % 60).padStart(2, "0")}','::1',${n})`
).join(",")};\n`

it.scopedLive(
  "an import that is killed goes on with the next run, while the service runs, and an export has each link once",
  () =>
    Effect.gen(function* () {
      const [PORT, DATA_DIR] = [String(yield* freePort), yield* migratedFolder]
      const settings = { PORT, DATA_DIR, ADMIN_API_KEY }
      yield* start(settings)
      const file = `${DATA_DIR}/yourls.sql`
      writeFileSync(file, dump)
      const adminWith = (variables: Variables, ...args: ReadonlyArray<string>) =>
        run(process.execPath, ["dist/admin.js", ...args], {
          ...settings,
          API_KEY: ADMIN_API_KEY,
          ...variables
        })
      const admin = (...args: ReadonlyArray<string>) => adminWith({}, ...args)
      const importing = ["import", "--file", file, "--from", "yourls"]

      const settled = () =>
        (JSON.parse(readFileSync(`${file}.import.json`, "utf8")) as { progress: { settled: number } })
          .progress.settled
      // The service makes this batch, again and again, and the import does not hear of it.
      const proxy = yield* makeCuttingProxy(`http://127.0.0.1:${PORT}`)
      proxy.cutAt({ when: "after", text: String(cutAt) })
      const killed = yield* adminWith({ BASE_URL: proxy.url }, ...importing)
      yield* killed.printed(/Trying again/)
      killed.signal("SIGKILL")
      expect(yield* killed.ended).toMatchObject({ signal: "SIGKILL" })
      const before = settled()
      expect(before).toBeGreaterThan(0)
      expect(before).toBeLessThanOrEqual(cutAt)

      const next = yield* admin(...importing)
      expect(yield* next.ended).toMatchObject({ code: 0 })
      expect(next.output()).toContain(`Going on behind ${before.toLocaleString("en")} lines.`)

      const exporting = yield* admin("export", "--file", `${DATA_DIR}/links.jsonl`)
      expect(yield* exporting.ended).toMatchObject({ code: 0 })
      const links = readFileSync(`${DATA_DIR}/links.jsonl`, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
      expect(links).toHaveLength(count)
      const byKey = new Map(links.map((link) => [link["key"], link]))
      for (let n = 0; n < count; n++) {
        expect(byKey.get(`key-${n}`)).toMatchObject({
          url: `https://example.com/${n}`,
          title: `It's ${n}`,
          createdAt: `2020-01-01T00:00:${String(n % 60).padStart(2, "0")}.000Z`,
          visits: n
        })
      }

      const wrong = yield* run(process.execPath, ["dist/admin.js", ...importing], settings)
      expect(yield* wrong.ended).toMatchObject({ code: 1 })
      expect(wrong.output()).toMatch(/^Set API_KEY to an API key/m)
    }),
  120_000
)
