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

const { items, set } = Kept.list<UtmTemplate>("utm-templates")

/** By name. They are kept in this browser alone. */
export const templates = items

const othersThan = (name: string) => templates.value.filter((template) => template.name !== name)

/** Whether there is room for a template of this name, which takes the place of one that has it. */
export const hasRoomFor = (name: string): boolean => othersThan(name).length < templatesMax

/** Keeps a template, in place of one with the same name, where there is room for it. */
export const keep = (template: UtmTemplate): void => {
  if (!hasRoomFor(template.name)) return
  set([...othersThan(template.name), template].toSorted((one, other) => one.name.localeCompare(other.name)))
}

/** Forgets a template. */
export const forget = (name: string): void => set(othersThan(name))
