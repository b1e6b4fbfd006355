// What was done before the script had come.

const input = document.querySelector<HTMLInputElement>("#app input[name=url]")

const seen =
  input === null
    ? undefined
    : {
        text: input.value,
        isFocused: document.activeElement === input,
        selection: [input.selectionStart ?? 0, input.selectionEnd ?? 0] as const
      }

let left = seen

/** What was typed as a long URL, and whether the input had the keyboard. It is given once. */
export const take = (): typeof seen => {
  const taken = left
  left = undefined
  return taken
}
