import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"

/** What an input needs to belong to its field. */
export interface FieldControl {
  readonly id: string
  readonly "aria-describedby": string | undefined
  readonly "aria-invalid": boolean
}

interface FieldProps {
  readonly label: string
  /** Said below the input, unless there is a fault. */
  readonly hint?: ComponentChildren
  readonly fault?: string | undefined
  readonly class?: string
  readonly children: (control: FieldControl) => ComponentChildren
}

/** A labelled input, with what is to be known of it or what is wrong with it. */
export const Field = ({ children, class: name = "", fault, hint, label }: FieldProps) => {
  const id = useId()
  const note = fault ?? hint
  return (
    <div class={`field ${name}`}>
      <label for={id}>{label}</label>
      {children({
        id,
        "aria-describedby": note === undefined ? undefined : `${id}-note`,
        "aria-invalid": fault !== undefined
      })}
      {note !== undefined && (
        <p id={`${id}-note`} class={fault === undefined ? "hint" : "fault"}>
          {note}
        </p>
      )}
    </div>
  )
}
