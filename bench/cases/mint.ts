import { FF1 } from "@noble/ciphers/ff1.js"
import { Effect } from "effect"
import { customAlphabet } from "nanoid"
import * as KeyCipher from "../../src/keys/KeyCipher.ts"
import * as KeySpace from "../../src/keys/KeySpace.ts"
import { atLeast, type Case } from "../Case.ts"
import * as Rounds from "../Rounds.ts"

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

const row = (contender: Contender, rates: ReadonlyArray<number>, noble: ReadonlyArray<number>) =>
  Rounds.plainRow({
    subject: contender.name,
    unit: "keys/s",
    rounds: rates,
    ratio: rates === noble ? null : Rounds.median(rates.map((rate, round) => rate / noble[round]!))
  })

const take = () => {
  const contenders = [noble(), linkmint(10_000), linkmint(512), nanoid()]
  for (const contender of contenders) perSecond(contender) // warm-up
  const rates = contenders.map((): Array<number> => [])
  for (let round = 0; round < rounds; round++) {
    contenders.forEach((contender, index) => rates[index]!.push(perSecond(contender)))
  }
  return contenders.map((contender, index) => row(contender, rates[index]!, rates[0]!))
}

/** Keys a second on one core at base62, length 7, in batches of 512 as in batches of 10,000. All contenders take turns. */
export const mint: Case = {
  name: "mint",
  title: "Mint keys, base62 of length 7, on one core",
  run: () =>
    Effect.sync(() => {
      const rows = take()
      const slower = rows[1]!.median < rows[2]!.median ? rows[1]! : rows[2]!
      return {
        rows,
        goals: [
          atLeast("keys/s", goalPerSecond, slower.median),
          atLeast("times @noble/ciphers", goalTimesNoble, slower.ratio!)
        ],
        notes: []
      }
    })
}
