import { Context, Data, Effect, Layer, Option, Redacted, Schema } from "effect"
import * as KeyedHash from "../secrets/KeyedHash.ts"
import { AdminKey } from "../accounts/AdminKey.ts"
import * as KeyMinter from "../keys/KeyMinter.ts"
import * as KeySpace from "../keys/KeySpace.ts"
import * as Secret from "../secrets/Secret.ts"
import type { Settings } from "./Settings.ts"
import { DeploymentStore } from "../storage/nodes/DeploymentStore.ts"

/** The settings lead to other keys than those that this database was started with. */
export class IdentityMismatch extends Data.TaggedError("IdentityMismatch")<{ readonly fault: string }> {
  override get message() {
    return `This database belongs to a deployment with another key space: ${this.fault} Two orders of one key space would mint the same keys.`
  }
}

/**
 * Distinguishes this deployment from others that share a Redis server with it: 12 hexadecimal digits, derived from its key space.
 */
export class DeploymentName extends Context.Tag("linkmint/DeploymentName")<DeploymentName, string>() {}

/** What determines the key of a counter, as the first start recorded it. */
const Identity = Schema.parseJson(
  Schema.Struct({
    alphabet: Schema.String,
    length: Schema.Number,
    ranges: Schema.Number,
    order: Schema.optionalWith(Schema.String, { default: () => "permuted" }),
    /** SHA-256 of the secret. */
    fingerprint: Schema.String,
    /** The secret in hexadecimal digits, if it was drawn here; `null` if the operator keeps it. */
    secret: Schema.NullOr(Schema.String)
  })
)

const hexOf = (secret: Uint8Array) => Buffer.from(secret).toString("hex")

const secretOf = (settings: Settings) =>
  Option.match(settings.keySecret, {
    onNone: () => Effect.map(Secret.draw(16), (drawn) => ({ hex: hexOf(drawn), drawn: true })),
    onSome: (given) => Effect.succeed({ hex: hexOf(Redacted.value(given)), drawn: false })
  })

const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"))

const minterOf = ({ keyAlphabet, keyLength, keyOrder }: Settings, secret: string) => {
  const space = KeySpace.make(keyAlphabet, keyLength)
  switch (keyOrder) {
    case "permuted":
      return KeyMinter.make(space, bytesOf(secret))
    case "sequential":
      return KeyMinter.makeSequential(space)
    case "random":
      return KeyMinter.makeRandom(space, Secret.drawNow)
  }
}

const faultOf = (
  settings: Settings,
  ranges: number,
  ours: string,
  decided: typeof Identity.Type
): string | undefined => {
  if (decided.order !== settings.keyOrder) return `KEY_ORDER is ${decided.order} there.`
  if (decided.alphabet !== settings.keyAlphabet) return `KEY_ALPHABET is ${decided.alphabet} there.`
  if (decided.length !== settings.keyLength) return `KEY_LENGTH is ${decided.length} there.`
  if (decided.ranges !== ranges) return `it has ${decided.ranges} key ranges, this program ${ranges}.`
  if (Option.isNone(settings.keySecret)) {
    return decided.secret === null ? "KEY_SECRET was set there, and is not set now." : undefined
  }
  return decided.fingerprint === Secret.digest(ours) ? undefined : "KEY_SECRET has another value there."
}

/** Determines which keys this deployment mints. The first start on a database decides; every later start must agree. */
const decideMinter = Effect.fn("Deployment.decideMinter")(function* (settings: Settings) {
  const store = yield* DeploymentStore
  const ours = yield* secretOf(settings)
  const { ranges } = minterOf(settings, ours.hex)
  const proposal = yield* Effect.orDie(
    Schema.encode(Identity)({
      alphabet: settings.keyAlphabet,
      length: settings.keyLength,
      ranges,
      order: settings.keyOrder,
      fingerprint: Secret.digest(ours.hex),
      secret: ours.drawn ? ours.hex : null
    })
  )
  const decided = yield* Effect.flatMap(store.decide("identity", proposal), (text) =>
    Effect.orDie(Schema.decode(Identity)(text))
  )
  const fault = faultOf(settings, ranges, ours.hex, decided)
  if (fault !== undefined) return yield* new IdentityMismatch({ fault })
  const secret = ours.drawn && decided.secret !== null ? decided.secret : ours.hex
  return Context.make(KeyMinter.KeyMinter, minterOf(settings, secret)).pipe(
    Context.add(DeploymentName, decided.fingerprint.slice(0, 12))
  )
})

/** The deployment's key minter, and its name. */
export const layerMinter = (settings: Settings) => Layer.effectContext(decideMinter(settings))

/** Hashes with `HASH_SECRET`, or else with a secret that the first start on a database draws and stores there. */
export const layerHash = (settings: Pick<Settings, "hashSecret">) =>
  Layer.effect(
    KeyedHash.KeyedHash,
    Effect.gen(function* () {
      if (Option.isSome(settings.hashSecret)) return KeyedHash.make(settings.hashSecret.value)
      const store = yield* DeploymentStore
      const drawn = yield* Secret.draw(32)
      return KeyedHash.make(Redacted.make(yield* store.decide("hash-secret", hexOf(drawn))))
    })
  )

/** The key in `ADMIN_API_KEY`, or else one that the first start on a database draws. */
export const layerAdminKey = (settings: Settings) =>
  Layer.effect(
    AdminKey,
    Effect.gen(function* () {
      if (Option.isSome(settings.adminApiKey)) {
        return { digest: Secret.digest(Redacted.value(settings.adminApiKey.value)), drawn: Option.none() }
      }
      const store = yield* DeploymentStore
      const key = yield* Secret.drawApiKey
      const ours = Secret.digest(Redacted.value(key))
      const digest = yield* store.decide("admin-key-sha256", ours)
      return { digest, drawn: digest === ours ? Option.some(key) : Option.none() }
    })
  )
