import { signal } from "@preact/signals"
import * as Kept from "../app/Kept.ts"
import type { UtmValues } from "./utm.ts"

/** Templates that a browser keeps at most. */
export const templatesMax = 50

/** The longest name of a template, in UTF-16 units. */
export const templateNameMax = 60

/** Values that somebody wants to use again. */
export interface UtmTemplate {
  readonly name: string
  readonly values: UtmValues
}

/** By name. They are kept in this browser alone. */
export const templates = signal<ReadonlyArray<UtmTemplate>>(Kept.read("utm-templates") ?? [])

const set = (next: ReadonlyArray<UtmTemplate>) => {
  templates.value = next
  Kept.write("utm-templates", next.length === 0 ? undefined : next)
}

/** Keeps a template, in place of one with the same name. Returns whether there was room for it. */
export const keep = (template: UtmTemplate): boolean => {
  const others = templates.value.filter(({ name }) => name !== template.name)
  if (others.length >= templatesMax) return false
  set([...others, template].toSorted((one, other) => one.name.localeCompare(other.name)))
  return true
}

/** Forgets a template. */
export const forget = (name: string): void =>
  set(templates.value.filter((template) => template.name !== name))
