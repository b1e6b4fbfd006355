// Writes small databases in MaxMind's format (https://maxmind.github.io/MaxMind-DB/), version 2.0.

import ipaddr from "ipaddr.js"

type Value = string | number | { readonly [name: string]: Value }

/** A control byte and the size after it, for sizes below 285. */
const control = (type: number, size: number): ReadonlyArray<number> => {
  const short = size < 29 ? size : 29
  const rest = size < 29 ? [] : [size - 29]
  return type <= 7 ? [(type << 5) | short, ...rest] : [short, type - 7, ...rest]
}

const encode = (value: Value): Buffer => {
  if (typeof value === "string") {
    const bytes = Buffer.from(value)
    return Buffer.concat([Buffer.from(control(2, bytes.length)), bytes])
  }
  if (typeof value === "number") {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return Buffer.concat([Buffer.from(control(6, 4)), bytes])
  }
  const entries = Object.entries(value)
  return Buffer.concat([
    Buffer.from(control(7, entries.length)),
    ...entries.flatMap(([name, value]) => [encode(name), encode(value)])
  ])
}

type Node = [Node | number | undefined, Node | number | undefined]

/** The bits of a network in IPv6, with IPv4 where the format has it: `::/96`. */
const bitsOf = (network: string): ReadonlyArray<0 | 1> => {
  const [address, length] = ipaddr.parseCIDR(network)
  const bytes = address.toByteArray()
  const isV4 = bytes.length === 4
  const whole = isV4 ? [...Array.from({ length: 12 }, () => 0), ...bytes] : bytes
  return whole
    .flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((bit) => ((byte >> bit) & 1) as 0 | 1))
    .slice(0, isV4 ? 96 + length : length)
}

/** A database that has these records by network; no network within another. */
export const mmdb = (databaseType: string, records: Readonly<Record<string, Value>>): Buffer => {
  const root: Node = [undefined, undefined]
  const nodes = [root]
  const data: Array<Buffer> = []
  let offset = 0
  for (const [network, record] of Object.entries(records)) {
    const bits = bitsOf(network)
    let node = root
    for (const bit of bits.slice(0, -1)) {
      const next = node[bit]
      if (typeof next === "object") node = next
      else {
        const made: Node = [undefined, undefined]
        nodes.push(made)
        node[bit] = made
        node = made
      }
    }
    node[bits.at(-1)!] = offset
    data.push(encode(record))
    offset += data.at(-1)!.length
  }
  const tree = Buffer.alloc(nodes.length * 6)
  const numberOf = (child: Node[0]) => {
    if (child === undefined) return nodes.length
    return typeof child === "number" ? nodes.length + 16 + child : nodes.indexOf(child)
  }
  nodes.forEach(([left, right], index) => {
    tree.writeUIntBE(numberOf(left), index * 6, 3)
    tree.writeUIntBE(numberOf(right), index * 6 + 3, 3)
  })
  const metadata = {
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    database_type: databaseType,
    description: {},
    ip_version: 6,
    languages: {},
    node_count: nodes.length,
    record_size: 24
  }
  const marker = Buffer.concat([Buffer.from("abcdef", "hex"), Buffer.from("MaxMind.com")])
  return Buffer.concat([tree, Buffer.alloc(16), ...data, marker, encode(metadata)])
}
