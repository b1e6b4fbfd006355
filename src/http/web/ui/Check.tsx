import type { ComponentChildren } from "preact"

interface CheckProps {
  readonly checked: boolean
  readonly onChange: (checked: boolean) => void
  readonly children: ComponentChildren
}

/** Something that is so or not. */
export const Check = ({ checked, children, onChange }: CheckProps) => (
  <label class="check">
    <input
      type="checkbox"
      checked={checked}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
    <span>{children}</span>
  </label>
)
