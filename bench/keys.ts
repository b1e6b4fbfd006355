import { FF1 } from "@noble/ciphers/ff1.js"
import { customAlphabet } from "nanoid"
import * as KeyCipher from "../src/KeyCipher.ts"
import * as KeySpace from "../src/KeySpace.ts"

const rounds = 9
const goalPerSecond = 1_000_000
const goalTimesNoble = 30

/** One way to make keys: makes about `aim` of them and returns how many it made. */
interface Contender {
  readonly name: string
  /** Keys a round, chosen so that each contender takes some tens of milliseconds. */
  readonly aim: number
  readonly run: (aim: number) => number
}

const space = KeySpace.make("base62", 7)
const secret = Uint8Array.from(Buffer.from("2B7E151628AED2A6ABF7158809CF4F3C", "hex"))

const linkmint = (batch: number): Contender => {
  const cipher = KeyCipher.make(space, secret)
  let next = 0n
  return {
    name: `Linkmint, packed batches of ${batch.toLocaleString("en")}`,
    aim: 300_000,
    run: (aim) => {
      let made = 0
      for (; made < aim; made += batch) {
        cipher.encipher(next, batch)
        next += BigInt(batch)
      }
      return made
    }
  }
}

/** Its own API, numerals in and numerals out: the string is not even put together. */
const noble = (): Contender => {
  const ff1 = FF1(space.radix, secret)
  const numerals = Array.from({ length: space.length }, () => 0)
  let next = 0
  return {
    name: "@noble/ciphers FF1",
    aim: 2_000,
    run: (aim) => {
      for (let made = 0; made < aim; made++) {
        numerals[5] = Math.floor(next / space.radix) % space.radix
        numerals[6] = next++ % space.radix
        ff1.encrypt(numerals)
      }
      return aim
    }
  }
}

/** Random keys, for scale: strings of their own rather than packed, and no permutation, so they can collide. */
const nanoid = (): Contender => {
  const make = customAlphabet(space.characters, space.length)
  return {
    name: "nanoid customAlphabet (can collide)",
    aim: 300_000,
    run: (aim) => {
      for (let made = 0; made < aim; made++) make()
      return aim
    }
  }
}

const perSecond = ({ aim, run }: Contender): number => {
  const start = performance.now()
  const made = run(aim)
  return (made / (performance.now() - start)) * 1_000
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

const format = (rate: number): string => Math.round(rate).toLocaleString("en")

/**
 * Keys a second on one core at base62, length 7: medians of several rounds in which all contenders take
 * turns, so that a busy machine slows them alike. Whether Linkmint, in batches of 512 as in batches of
 * 10,000, makes at least a million keys a second and 30 times as many as `@noble/ciphers`.
 */
export const keys = (): boolean => {
  const contenders = [linkmint(10_000), linkmint(512), noble(), nanoid()]
  for (const contender of contenders) perSecond(contender) // warm-up
  const rates = contenders.map((): Array<number> => [])
  for (let round = 0; round < rounds; round++) {
    contenders.forEach((contender, index) => rates[index]!.push(perSecond(contender)))
  }
  const medians = rates.map(median)
  const [large, small, nobleRate, nanoidRate] = medians as [number, number, number, number]

  process.stdout.write(`keys a second, base62 length 7, one core, medians of ${rounds} rounds\n`)
  contenders.forEach(({ name }, index) => {
    const spread = `${format(Math.min(...rates[index]!))} – ${format(Math.max(...rates[index]!))}`
    process.stdout.write(`  ${name.padEnd(38)}${format(medians[index]!).padStart(12)}   (${spread})\n`)
  })
  for (const [batch, rate] of [
    ["10,000", large],
    ["512", small]
  ] as const) {
    process.stdout.write(
      `  batches of ${batch}: ${(rate / nobleRate).toFixed(0)} × @noble/ciphers, ` +
        `${(rate / nanoidRate).toFixed(2)} × nanoid\n`
    )
  }
  const slower = Math.min(large, small)
  const met = slower >= goalPerSecond && slower >= goalTimesNoble * nobleRate
  process.stdout.write(
    `goals, at least ${format(goalPerSecond)} keys/s and ${goalTimesNoble} × @noble/ciphers: ` +
      `${met ? "met" : "MISSED"}\n`
  )
  return met
}
