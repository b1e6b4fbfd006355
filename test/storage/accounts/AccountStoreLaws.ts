import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import type { AccountStore, ApiKey, Session, User } from "../../../src/storage/accounts/AccountStore.ts"
import type { Open } from "../../support/Stores.ts"

export const user = (id: string, more: Partial<User> = {}): User => ({
  id,
  email: `${id}@example.com`,
  firstName: "Ada",
  middleName: null,
  lastName: "Łovelace \"'$1",
  passwordHash: `hash of ${id}`,
  passwordIsTemporary: false,
  isAdmin: false,
  createdAt: 1_000,
  updatedAt: 1_000,
  lastLoginAt: null,
  webhooksSince: 0,
  disabledAt: null,
  ...more
})

export const session = (
  tokenHash: string,
  userId: string,
  createdAt: number,
  expiresAt = 9_000
): Session => ({
  tokenHash,
  userId,
  createdAt,
  expiresAt,
  lastUsedAt: createdAt,
  browser: "Firefox",
  os: "Linux"
})

const newHash = {
  passwordHash: "new hash",
  passwordIsTemporary: false,
  revokesKeys: false,
  at: 3_000
}

export const key = (id: string, userId: string, more: Partial<ApiKey> = {}): ApiKey => ({
  id,
  userId,
  secretHash: `secret of ${id}`,
  name: `name of ${id}`,
  scopes: ["links:read", "stats:read"],
  createsPerMinute: null,
  redirectsPerDay: null,
  createdAt: 2_000,
  expiresAt: null,
  ...more
})

/** The laws of `AccountStore`, as tests of one backend. */
export const accountStoreLaws = (title: string, open: Open<AccountStore["Type"]>): void => {
  const withUsers = (...ids: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const store = yield* yield* open
      for (const id of ids) expect(yield* store.addUser(user(id))).toBe(true)
      return store
    })

  describe(`${title}: users`, () => {
    it.scopedLive("are found by id and by e-mail address in any case, as they were added", () =>
      Effect.gen(function* () {
        const store = yield* yield* open
        const one = user("one", { email: "One@Example.com", isAdmin: true, lastLoginAt: 5 })
        const other = user("other", { passwordHash: null, firstName: null, lastName: null, middleName: "M" })
        expect(yield* store.addUser(one)).toBe(true)
        expect(yield* store.addUser(other)).toBe(true)
        expect(yield* store.userById("one")).toEqual(one)
        expect(yield* store.userByEmail("oNE@example.COM")).toEqual(one)
        expect(yield* store.userById("other")).toEqual(other)
        expect(yield* store.userById("One")).toBeNull()
        expect(yield* store.userByEmail("one@example.co")).toBeNull()
      })
    )

    it.scopedLive("are not added where the id or the e-mail address is taken", () =>
      Effect.gen(function* () {
        const store = yield* withUsers("one")
        expect(yield* store.addUser(user("one", { email: "new@example.com" }))).toBe(false)
        expect(yield* store.addUser(user("two", { email: "ONE@example.com" }))).toBe(false)
        expect(yield* store.userById("two")).toBeNull()
        expect(yield* store.userById("one")).toEqual(user("one"))
      })
    )

    it.scopedLive("are added once where many add them at once", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        const added = yield* Effect.forEach(
          Array.from({ length: 12 }, (_, index) => index),
          (index) => stores[index % 3]!.addUser(user(`u${index}`, { email: "Same@example.com" })),
          { concurrency: "unbounded" }
        )
        expect(added.filter(Boolean)).toHaveLength(1)
      })
    )

    it.scopedLive("get another password, and lose their sessions with the old one", () =>
      Effect.gen(function* () {
        const store = yield* withUsers("one", "two")
        yield* store.addSession(session("s1", "one", 2_000), "hash of one", 5)
        yield* store.addSession(session("s2", "two", 2_000), "hash of two", 5)
        yield* store.addKey(key("k1", "one"), 5)
        expect(yield* store.setPassword("one", newHash)).toBe(true)
        expect(yield* store.userById("one")).toMatchObject({
          passwordHash: "new hash",
          passwordIsTemporary: false,
          webhooksSince: 0,
          updatedAt: 3_000
        })
        expect(yield* store.sessionByToken("s1")).toBeNull()
        expect(yield* store.sessionByToken("s2")).toMatchObject({ user: { id: "two" } })
        expect(yield* store.keysOf("one")).toHaveLength(1)
        expect(yield* store.setPassword("nobody", newHash)).toBe(false)
      })
    )

    it.scopedLive(
      "keep the password that another change has set, where one was verified that is no more",
      () =>
        Effect.gen(function* () {
          const store = yield* withUsers("one")
          expect(yield* store.setPassword("one", { ...newHash, replaces: "hash of one" })).toBe(true)
          yield* store.addSession(session("s1", "one", 2_000), "new hash", 5)
          yield* store.addKey(key("k1", "one"), 5)
          const late = { ...newHash, passwordHash: "late", revokesKeys: true, replaces: "hash of one" }
          expect(yield* store.setPassword("one", late)).toBe(false)
          expect(yield* store.userById("one")).toMatchObject({ passwordHash: "new hash" })
          expect(yield* store.sessionsOf("one")).toHaveLength(1)
          expect(yield* store.keysOf("one")).toHaveLength(1)
        })
    )

    it.scopedLive("lose their keys with the old password, too, where that is asked for", () =>
      Effect.gen(function* () {
        const store = yield* withUsers("one", "two")
        for (const id of ["k1", "k2"]) yield* store.addKey(key(id, "one"), 5)
        yield* store.addKey(key("other", "two"), 5)
        const change = { ...newHash, passwordIsTemporary: true, revokesKeys: true }
        expect(yield* store.setPassword("one", change)).toBe(true)
        expect(yield* store.userById("one")).toMatchObject({
          passwordIsTemporary: true,
          webhooksSince: 3_000
        })
        expect(yield* store.keysOf("one")).toEqual([])
        expect(yield* store.keyBySecret("secret of k1")).toBeNull()
        expect(yield* store.keysOf("two")).toHaveLength(1)
        expect(yield* store.userById("two")).toEqual(user("two"))
      })
    )
  })

  describe(`${title}: sessions`, () => {
    it.scopedLive(
      "are found by their token with their user, until they are ended, and are the last login",
      () =>
        Effect.gen(function* () {
          const store = yield* withUsers("one")
          const begun = session("s", "one", 2_000, 5_000)
          expect(yield* store.addSession(begun, "hash of one", 5)).toBe(true)
          expect(yield* store.sessionByToken("s")).toEqual({
            session: begun,
            user: user("one", { lastLoginAt: 2_000 })
          })
          expect(yield* store.sessionByToken("S")).toBeNull()
          yield* store.endSession("s")
          expect(yield* store.sessionByToken("s")).toBeNull()
          yield* store.endSession("s")
        })
    )

    it.scopedLive("are listed for their user, the newest first, with their last use", () =>
      Effect.gen(function* () {
        const store = yield* withUsers("one", "two")
        const [old, young, other] = [
          session("old", "one", 1_000),
          { ...session("young", "one", 2_000), browser: "Łynx", os: "" },
          session("other", "two", 1_500)
        ]
        for (const one of [old, young]) yield* store.addSession(one, "hash of one", 5)
        yield* store.addSession(other, "hash of two", 5)
        expect(yield* store.sessionsOf("one")).toEqual([young, old])
        yield* store.touchSession("old", 4_000)
        yield* store.touchSession("old", 3_000)
        yield* store.touchSession("nothing", 4_000)
        expect(yield* store.sessionsOf("one")).toEqual([young, { ...old, lastUsedAt: 4_000 }])
        expect(yield* store.sessionsOf("two")).toEqual([other])
        expect(yield* store.sessionsOf("nobody")).toEqual([])
      })
    )

    it.scopedLive("are all ended, or all but one, of this user alone", () =>
      Effect.gen(function* () {
        const store = yield* withUsers("one", "two")
        for (const hash of ["a", "b", "c"]) {
          yield* store.addSession(session(hash, "one", 1_000), "hash of one", 5)
        }
        yield* store.addSession(session("d", "two", 1_000), "hash of two", 5)
        yield* store.endSessionsOf("one", "b")
        expect((yield* store.sessionsOf("one")).map(({ tokenHash }) => tokenHash)).toEqual(["b"])
        yield* store.endSessionsOf("one", "d")
        expect(yield* store.sessionsOf("one")).toEqual([])
        expect(yield* store.sessionsOf("two")).toHaveLength(1)
        yield* store.endSessionsOf("two", null)
        expect(yield* store.sessionsOf("two")).toEqual([])
      })
    )

    it.scopedLive("do not begin with a password that is not the user's any more", () =>
      Effect.gen(function* () {
        const store = yield* withUsers("one")
        yield* store.setPassword("one", newHash)
        expect(yield* store.addSession(session("s", "one", 3_000), "hash of one", 5)).toBe(false)
        expect(yield* store.addSession(session("s", "nobody", 3_000), "hash of one", 5)).toBe(false)
        expect(yield* store.sessionByToken("s")).toBeNull()
        expect(yield* store.userById("one")).toMatchObject({ lastLoginAt: null })
      })
    )

    it.scopedLive("that are too many end: the expired and then the oldest, of this user alone", () =>
      Effect.gen(function* () {
        const store = yield* withUsers("one", "two")
        yield* store.addSession(session("other", "two", 1, 9_000), "hash of two", 1)
        const begin = (hash: string, at: number, until?: number) =>
          store.addSession(session(hash, "one", at, until), "hash of one", 3)
        yield* begin("long", 1_000)
        yield* begin("short", 1_500, 1_600)
        yield* begin("b", 2_000)
        yield* begin("c", 3_000)
        const live = Effect.filter(["long", "short", "b", "c", "d", "other"], (hash) =>
          Effect.map(store.sessionByToken(hash), (found) => found !== null)
        )
        expect(yield* live).toEqual(["long", "b", "c", "other"])
        yield* begin("d", 4_000)
        expect(yield* live).toEqual(["b", "c", "d", "other"])
      })
    )
  })

  describe(`${title}: keys`, () => {
    it.scopedLive("are found by their secret, with their user, as they were added", () =>
      Effect.gen(function* () {
        const store = yield* withUsers("one")
        const plain = key("k1", "one")
        const full = key("k2", "one", {
          scopes: ["admin"],
          createsPerMinute: 1_000_000_000,
          redirectsPerDay: 9_007_199_254_740_991,
          expiresAt: 3_000
        })
        expect(yield* store.addKey(plain, 5)).toBe("added")
        expect(yield* store.addKey(full, 5)).toBe("added")
        expect(yield* store.keyBySecret("secret of k1")).toEqual({ key: plain, user: user("one") })
        expect(yield* store.keyBySecret("secret of k2")).toEqual({ key: full, user: user("one") })
        expect(yield* store.keyBySecret("Secret of k1")).toBeNull()
      })
    )

    it.scopedLive("are listed for their user, the oldest first", () =>
      Effect.gen(function* () {
        const store = yield* withUsers("one", "two")
        yield* store.addKey(key("new", "one", { createdAt: 5_000 }), 5)
        yield* store.addKey(key("old", "one", { createdAt: 1_000 }), 5)
        yield* store.addKey(key("b", "one", { createdAt: 2_000 }), 5)
        yield* store.addKey(key("a", "one", { createdAt: 2_000 }), 5)
        yield* store.addKey(key("theirs", "two"), 5)
        expect((yield* store.keysOf("one")).map(({ id }) => id)).toEqual(["old", "a", "b", "new"])
        expect(yield* store.keysOf("two")).toEqual([key("theirs", "two")])
        expect(yield* store.keysOf("nobody")).toEqual([])
      })
    )

    it.scopedLive("are at most as many as allowed, also where many are added at once", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        yield* stores[0].addUser(user("one"))
        const added = yield* Effect.forEach(
          Array.from({ length: 12 }, (_, index) => index),
          (index) => stores[index % 3]!.addKey(key(`k${index}`, "one"), 5),
          { concurrency: "unbounded" }
        )
        expect(added.toSorted().slice(4, 6)).toEqual(["added", "full"])
        expect(yield* stores[0].keysOf("one")).toHaveLength(5)
      })
    )

    it.scopedLive("are removed by their user, or by whoever may, once", () =>
      Effect.gen(function* () {
        const store = yield* withUsers("one", "two")
        yield* store.addKey(key("k1", "one"), 5)
        yield* store.addKey(key("k2", "one"), 5)
        expect(yield* store.removeKey("k1", "two")).toBeNull()
        expect(yield* store.removeKey("k1", "one")).toBe("one")
        expect(yield* store.removeKey("k1", "one")).toBeNull()
        expect(yield* store.keyBySecret("secret of k1")).toBeNull()
        expect(yield* store.removeKey("k2", null)).toBe("one")
        expect(yield* store.removeKey("k3", null)).toBeNull()
        expect(yield* store.keysOf("one")).toEqual([])
      })
    )
  })
}
