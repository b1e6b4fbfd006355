import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import type { AccountStore, User, UserPosition } from "../../../src/storage/accounts/AccountStore.ts"
import { key, session, user } from "./AccountStoreLaws.ts"
import type { Open } from "../../support/Stores.ts"

/** The laws of `AccountStore` about how accounts are listed, disabled and removed. */
export const userLifeLaws = (title: string, open: Open<AccountStore["Type"]>): void => {
  const withUsers = (...users: ReadonlyArray<User>) =>
    Effect.gen(function* () {
      const store = yield* yield* open
      for (const one of users) expect(yield* store.addUser(one)).toBe(true)
      return store
    })

  const admin = (id: string) => user(id, { isAdmin: true })
  const disable = { isDisabled: true }

  describe(`${title}: the list of users`, () => {
    it.scopedLive(
      "has each once from page to page, the newest first, or the one with an e-mail address",
      () =>
        Effect.gen(function* () {
          const ids = ["b", "A", "c", "a", "e"]
          const users = ids.map((id, index) =>
            user(`${id}-${index}`, {
              email: `${index}@Example.com`,
              createdAt: 1_000 + Math.floor(index / 3)
            })
          )
          const store = yield* withUsers(...users)
          const expected = ["e-4", "a-3", "c-2", "b-0", "A-1"]
          expect((yield* store.listUsers({ limit: 9 })).map(({ id }) => id)).toEqual(expected)
          const found: Array<string> = []
          let after: UserPosition | undefined
          for (let page = 0; page < 3; page++) {
            const users: ReadonlyArray<User> = yield* store.listUsers({ after, limit: 2 })
            found.push(...users.map(({ id }) => id))
            after = users.at(-1)
          }
          expect(found).toEqual(expected)
          expect(yield* store.listUsers({ email: "2@example.COM", limit: 9 })).toEqual([users[2]])
          expect(yield* store.listUsers({ email: "9@example.com", limit: 9 })).toEqual([])
        })
    )
  })

  describe(`${title}: a user who is disabled`, () => {
    it.scopedLive("has no session, begins none, has no key that works, and gets none", () =>
      Effect.gen(function* () {
        const store = yield* withUsers(user("one"), user("two"))
        for (const id of ["one", "two"]) {
          yield* store.addSession(session(`session of ${id}`, id, 2_000), `hash of ${id}`, 5)
          yield* store.addKey(key(`key of ${id}`, id), 5)
        }
        const before = yield* store.userById("one")
        const changed = yield* store.changeUser("one", disable, 3_000)
        expect(changed).toEqual({ before, after: { ...before, disabledAt: 3_000, updatedAt: 3_000 } })
        expect(yield* store.userById("one")).toMatchObject({ disabledAt: 3_000 })
        expect(yield* store.sessionByToken("session of one")).toBeNull()
        expect(yield* store.keyBySecret("secret of key of one")).toBeNull()
        expect(yield* store.addSession(session("late", "one", 3_000), "hash of one", 5)).toBe(false)
        expect(yield* store.addKey(key("late", "one"), 5)).toBe("nobody")
        expect(yield* store.sessionByToken("session of two")).toMatchObject({ user: { id: "two" } })
        expect(yield* store.keyBySecret("secret of key of two")).toMatchObject({ user: { id: "two" } })
      })
    )

    it.scopedLive("has the keys again, but not the sessions, once enabled", () =>
      Effect.gen(function* () {
        const store = yield* withUsers(user("one"))
        yield* store.addSession(session("s", "one", 2_000), "hash of one", 5)
        yield* store.addKey(key("k", "one"), 5)
        yield* store.changeUser("one", disable, 3_000)
        // Since when is not changed by doing it again.
        expect(yield* store.changeUser("one", disable, 4_000)).toMatchObject({ after: { disabledAt: 3_000 } })
        expect(yield* store.changeUser("one", { isDisabled: false }, 5_000)).toMatchObject({
          after: { disabledAt: null }
        })
        expect(yield* store.sessionByToken("s")).toBeNull()
        expect(yield* store.keyBySecret("secret of k")).toMatchObject({ key: { id: "k" } })
        expect(yield* store.addSession(session("s2", "one", 5_000), "hash of one", 5)).toBe(true)
      })
    )

    it.scopedLive("stays disabled when the role changes, and keeps the role when enabled", () =>
      Effect.gen(function* () {
        const store = yield* withUsers(admin("root"), user("one"))
        yield* store.changeUser("one", disable, 3_000)
        expect(yield* store.changeUser("one", { isAdmin: true }, 4_000)).toMatchObject({
          after: { isAdmin: true, disabledAt: 3_000 }
        })
        expect(yield* store.userById("one")).toMatchObject({ isAdmin: true, disabledAt: 3_000 })
        yield* store.changeUser("one", { isDisabled: false }, 5_000)
        expect(yield* store.userById("one")).toMatchObject({ isAdmin: true, disabledAt: null })
      })
    )

    it.scopedLive("has nothing that was begun at the same moment", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        const [store, other, third] = stores
        yield* store.addUser(user("one"))
        const begun = Array.from({ length: 8 }, (_, index) => [
          other.addSession(session(`s${index}`, "one", 2_000), "hash of one", 20),
          third.addKey(key(`k${index}`, "one"), 20)
        ]).flat()
        yield* Effect.all(
          [...begun.slice(0, 6), store.changeUser("one", disable, 3_000), ...begun.slice(6)],
          {
            concurrency: "unbounded",
            discard: true
          }
        )
        for (let index = 0; index < 8; index++) {
          expect(yield* other.sessionByToken(`s${index}`)).toBeNull()
          expect(yield* third.keyBySecret(`secret of k${index}`)).toBeNull()
        }
      })
    )
  })

  describe(`${title}: a user who is removed`, () => {
    it.scopedLive("is not there any more, nor are the sessions and keys, and gets none", () =>
      Effect.gen(function* () {
        const store = yield* withUsers(user("one"), user("two"))
        yield* store.addSession(session("s", "one", 2_000), "hash of one", 5)
        yield* store.addKey(key("k", "one"), 5)
        expect(yield* store.removeUser("one")).toBe("removed")
        expect(yield* store.removeUser("one")).toBe("nobody")
        expect(yield* store.changeUser("one", disable, 3_000)).toBe("nobody")
        expect(yield* store.userById("one")).toBeNull()
        expect(yield* store.sessionByToken("s")).toBeNull()
        expect(yield* store.keyBySecret("secret of k")).toBeNull()
        expect(yield* store.keysOf("one")).toEqual([])
        expect(yield* store.addKey(key("late", "one"), 5)).toBe("nobody")
        expect(yield* store.addSession(session("late", "one", 3_000), "hash of one", 5)).toBe(false)
        // The address can be had again.
        expect(yield* store.addUser(user("new", { email: "ONE@example.com" }))).toBe(true)
      })
    )
  })

  describe(`${title}: administrators`, () => {
    it.scopedLive("are made and unmade", () =>
      Effect.gen(function* () {
        const store = yield* withUsers(admin("root"), user("one"))
        expect(yield* store.changeUser("one", { isAdmin: true }, 3_000)).toMatchObject({
          before: { isAdmin: false },
          after: { isAdmin: true, disabledAt: null }
        })
        expect(yield* store.changeUser("one", { isAdmin: false }, 4_000)).toMatchObject({
          after: { isAdmin: false }
        })
        expect(yield* store.userById("one")).toMatchObject({ isAdmin: false, updatedAt: 4_000 })
      })
    )

    it.scopedLive("are never all disabled, demoted or removed: the last one that works stays", () =>
      Effect.gen(function* () {
        const store = yield* withUsers(admin("root"), admin("other"), user("one"))
        yield* store.changeUser("other", disable, 3_000)
        expect(yield* store.changeUser("root", disable, 3_000)).toBe("last-administrator")
        expect(yield* store.changeUser("root", { isAdmin: false }, 3_000)).toBe("last-administrator")
        expect(yield* store.changeUser("root", { isAdmin: false, isDisabled: false }, 3_000)).toBe(
          "last-administrator"
        )
        expect(yield* store.changeUser("root", { isAdmin: true, isDisabled: true }, 3_000)).toBe(
          "last-administrator"
        )
        expect(yield* store.removeUser("root")).toBe("last-administrator")
        expect(yield* store.userById("root")).toEqual(admin("root"))
        expect(yield* store.removeUser("other")).toBe("removed")
        expect(yield* store.removeUser("one")).toBe("removed")
      })
    )

    it.scopedLive("are never all gone where each ends another at the same moment", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client, client])
        const ids = ["a", "b", "c", "d"]
        for (const id of ids) yield* stores[0].addUser(admin(id))
        const ends = ids.map((id, index) => {
          const store = stores[index]!
          if (index === 0) return store.changeUser(id, disable, 3_000)
          return index === 1 ? store.changeUser(id, { isAdmin: false }, 3_000) : store.removeUser(id)
        })
        const ended = yield* Effect.all(ends, { concurrency: "unbounded" })
        expect(ended.filter((one) => one === "last-administrator")).toHaveLength(1)
        const left = yield* stores[0].listUsers({ limit: 10 })
        expect(left.filter(({ disabledAt, isAdmin }) => isAdmin && disabledAt === null)).toHaveLength(1)
      })
    )
  })
}
