import { messages, shapeOf } from "../../../src/model/Messages.ts"

const shapes = messages.map(shapeOf)

/** Whether a text is one of the service's messages, which the web page has in its languages. */
export const isMessage = (text: string): boolean => shapes.some((shape) => shape.test(text))
