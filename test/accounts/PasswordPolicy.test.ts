import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as PasswordPolicy from "../../src/accounts/PasswordPolicy.ts"

const ada = { email: "ada.king@Example.com", firstName: "Ada", middleName: null, lastName: "Lovelace" }

const length = "must have 12 to 128 characters"
const common = "is among the passwords that are guessed first: please choose another one"
const own = "may not be made of the e-mail address, the name or this service's name"

/** Why a password is refused; `null` where it is not. */
const refusal = (password: string, owner: PasswordPolicy.PasswordOwner = ada) =>
  Effect.gen(function* () {
    const check = yield* PasswordPolicy.make
    return yield* Effect.match(check(Redacted.make(password), owner), {
      onSuccess: () => null,
      onFailure: ({ message }) => message
    })
  })

const table = (title: string, expected: string | null, passwords: ReadonlyArray<string>) =>
  it.effect(title, () =>
    Effect.gen(function* () {
      for (const password of passwords) expect(yield* refusal(password), password).toBe(expected)
    })
  )

describe("a new password", () => {
  table("has 12 characters at least, and 128 at most, however many bytes they take", length, [
    "",
    "kq7 vd2 xw9",
    "🍃".repeat(11),
    "kq7vd2xw9pz4".repeat(11),
    "🍃a".repeat(65),
    "kq7vd2xw9pz4\ud800",
    // Several spaces count as one.
    "kq7      vd2",
    // Eleven letters, each written as two: so they are counted once.
    "e\u0301à\u0302".normalize("NFD").repeat(4).slice(0, 11)
  ])

  table("has whatever characters its user likes", null, [
    "correct horse battery staple",
    "kq7vd2xw9pz4",
    "   kq7 vd2 xw9   ",
    "zażółć gęślą jaźń",
    "正しい馬の電池ホチキスで留める",
    "🍃🍂🐝🐞🦋🐌🐛🐜🪲🦗🕷🦂",
    `${"kq7 vd2 xw9 ".repeat(10)}12345678`,
    "493027118264"
  ])

  table("is none of the most common ones, in whatever case and width", common, [
    "1qaz2wsx3edc",
    "1QAZ2wsx3EDC",
    "１ｑａｚ２ｗｓｘ３ｅｄｃ",
    "unbelievable",
    "123456789012",
    "leavemealone",
    "Mailcreated5240"
  ])

  table("is no common one between digits and signs, and none said several times", common, [
    "password2026!",
    "!!Dragon!!1984",
    "2026 iloveyou",
    "aaaaaaaaaaaa",
    "abababababab",
    "hunter2hunter2",
    "monkeymonkeymonkey",
    "123123123123123"
  ])

  table("does not consist of what everybody knows of its user and of the service", own, [
    "ada.king@example.com",
    "Ada.King@Example.com",
    "ada.king1815",
    "1815-Lovelace-12",
    "Linkmint!2026",
    "linkmintlovelace"
  ])

  table("may have such a word among others", null, [
    "lovelace wrote the first program",
    "linkmint keeps 4 cats"
  ])

  it.effect("is the same however a keyboard writes it", () =>
    Effect.sync(() => {
      const normalized = (text: string) => Redacted.value(PasswordPolicy.normalized(Redacted.make(text)))
      expect(normalized("Ame\u0301lie ﬁnds")).toBe(normalized("Amélie finds"))
      expect(normalized("kept as it is ")).toBe("kept as it is ")
    })
  )
})
