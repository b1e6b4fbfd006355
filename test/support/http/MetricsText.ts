// Prometheus' text format and its expressions, read by Prometheus' own grammar.

import { parser } from "@prometheus-io/lezer-promql"

/** One number under the name that expressions have for it. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** The texts of all parts of an expression that have this name in the grammar. Throws where it is no expression. */
const partsOf = (expression: string, wanted: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  parser.parse(expression).iterate({
    enter: ({ from, name, to, type }) => {
      if (type.isError) throw new Error(`no expression, from ${from}: ${expression}`)
      if (name === wanted) parts.push(expression.slice(from, to))
    }
  })
  return parts
}

/** The parts of an expression that ask for a metric. */
export const selectorsIn = (expression: string) => partsOf(expression, "VectorSelector")

/** The metrics that an expression asks for. */
export const metricsIn = (expression: string): ReadonlyArray<string> =>
  selectorsIn(expression).map((selector) => partsOf(selector, "Identifier")[0]!)

/** The labels that an expression names. */
export const labelsIn = (expression: string) => partsOf(expression, "LabelName")

const sampleOf = (line: string): Sample => {
  const end = line.lastIndexOf(" ")
  const selector = line.slice(0, end)
  const number = line.slice(end + 1)
  const names = labelsIn(selector)
  const values = partsOf(selector, "StringLiteral").map((text) => JSON.parse(text) as string)
  return {
    name: metricsIn(selector)[0]!,
    labels: Object.fromEntries(names.map((name, index) => [name, values[index]!])),
    value: number === "+Inf" ? Number.POSITIVE_INFINITY : Number(number)
  }
}

/** All samples in a text. Throws where a line is none. */
export const samplesOf = (text: string): ReadonlyArray<Sample> =>
  text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map(sampleOf)

/** The value of the sample with exactly these labels, 0 where there is none. */
export const valueOf = (text: string, name: string, labels: object): number =>
  samplesOf(text).find(
    (sample) =>
      sample.name === name &&
      Object.keys(sample.labels).length === Object.keys(labels).length &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value)
  )?.value ?? 0
