import { describe, expect, it } from "@effect/vitest"
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Effect, Logger, type Scope, TestClock } from "effect"
import * as Blocklist from "../../../src/http/links/Blocklist.ts"
import { lookEvery } from "../../../src/fibers/WatchedFile.ts"

const blocklist = (text: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const file = yield* fs.makeTempFileScoped()
    yield* fs.writeFileString(file, text)
    return { fs, file, list: yield* Blocklist.watch(file) }
  })

const failure = (text: string) => Effect.map(Effect.flip(blocklist(text)), String)

/** Lets virtual time pass, and the file be read, until `condition` holds. */
const passTimeUntil = (condition: () => boolean) =>
  Effect.suspend(() =>
    Effect.zipRight(
      TestClock.adjust(lookEvery),
      Effect.promise(() => new Promise(setImmediate))
    )
  ).pipe(Effect.repeat({ until: condition }))

const messages: Array<string> = []

const captured = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ logLevel, message }) => void messages.push(`${logLevel.label} ${String(message)}`))
)

const warnings = () => messages.filter((message) => message.startsWith("WARN"))

describe("Blocklist", () => {
  const scoped = <E>(
    title: string,
    test: () => Effect.Effect<void, E, FileSystem.FileSystem | Scope.Scope>
  ) =>
    it.scoped(title, () => {
      messages.length = 0
      return Effect.provide(test(), [NodeContext.layer, captured])
    })

  scoped("blocks the domains on it and all below them, and no others", () =>
    Effect.gen(function* () {
      const { list } = yield* blocklist("evil.example\nphish.example.com\n")
      const hosts = ["evil.example", "www.evil.example", "a.b.evil.example.", "phish.example.com"]
      expect(hosts.filter((host) => !list.has(host))).toEqual([])
      const others = ["example", "notevil.example", "evil.example.com", "example.com", "com", "", "."]
      expect(others.filter((host) => list.has(host))).toEqual([])
    })
  )

  scoped("understands comments, white space, capitals, international names and addresses", () =>
    Effect.gen(function* () {
      const { list } = yield* blocklist(
        "# a list\r\n\r\n  Evil.Example  # why\r\nmünchen.example\r\ntrailing.example.\r\n192.0.2.7\r\n[2001:DB8::0:1]\r\n[::ffff:192.0.2.9]\r\n"
      )
      const hosts = [
        "evil.example",
        "www.xn--mnchen-3ya.example",
        "trailing.example",
        "192.0.2.7",
        "[::ffff:c000:207]",
        "192.0.2.9",
        "[::ffff:c000:209]",
        "[2001:db8::1]"
      ]
      expect(hosts.filter((host) => !list.has(host))).toEqual([])
      const others = ["192.0.2.8", "[::ffff:c000:208]", "[::c000:207]", "2.7", "[2001:db8::2]"]
      expect(others.filter((host) => list.has(host))).toEqual([])
    })
  )

  scoped("is refused at first when a line is no domain, and says which", () =>
    Effect.gen(function* () {
      const wrong = [
        "a b.example",
        "http://evil.example/",
        "evil.example/path",
        "a.example:80",
        "user@a.example",
        "*.evil.example",
        "a..example"
      ]
      for (const line of wrong) {
        const message = yield* failure(`good.example\n\n${line}\n`)
        expect(message).toContain(`line 3 is not a domain: "${line}"`)
        expect(message).toContain("BLOCKLIST_FILE")
      }
    })
  )

  scoped("is refused at first when the file is missing or is a folder", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      expect(String(yield* Effect.flip(Blocklist.watch(`${folder}/none`)))).toContain("there is no such file")
      expect(String(yield* Effect.flip(Blocklist.watch(folder)))).toContain("not a file")
    })
  )

  scoped("is read again when the file changes", () =>
    Effect.gen(function* () {
      const { file, fs, list } = yield* blocklist("old.example\n")
      yield* fs.writeFileString(file, "new.example\nnewer.example\n")
      yield* passTimeUntil(() => list.has("new.example"))
      expect([list.has("newer.example"), list.has("old.example")]).toEqual([true, false])
    })
  )

  scoped("stays what it was when the file becomes unusable, warns once, and is read when it is mended", () =>
    Effect.gen(function* () {
      const { file, fs, list } = yield* blocklist("old.example\n")
      yield* fs.writeFileString(file, "no domain at all\n")
      yield* passTimeUntil(() => warnings().length > 0)
      yield* fs.remove(file)
      yield* passTimeUntil(() => warnings().length > 1)
      for (let looks = 0; looks < 5; looks++) yield* passTimeUntil(() => true)
      expect(warnings()).toEqual([
        expect.stringMatching(/line 1 is not a domain.*The former version stays/),
        expect.stringMatching(/there is no such file.*The former version stays/)
      ])
      expect(list.has("old.example")).toBe(true)
      yield* fs.writeFileString(file, "new.example\n")
      yield* passTimeUntil(() => list.has("new.example"))
      expect(list.has("old.example")).toBe(false)
    })
  )
})
