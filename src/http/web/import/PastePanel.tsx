import { useState } from "preact/hooks"
import { Field } from "../ui/Field.tsx"
import { lookAtLines, type Source } from "./reading.ts"

/** Takes pasted lines. */
export const PastePanel = ({ onRead }: { readonly onRead: (source: Source) => void }) => {
  const [text, setText] = useState("")
  return (
    <form
      class="card form"
      onSubmit={(event) => {
        event.preventDefault()
        void lookAtLines(text).then(onRead)
      }}
    >
      <h2>Pasted</h2>
      <Field label="One URL a line" hint="An alias may follow behind a space.">
        {(control) => (
          <textarea
            {...control}
            rows={7}
            spellcheck={false}
            placeholder={"https://example.com/spring\nhttps://example.com/summer summer-27"}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        )}
      </Field>
      <button type="submit" class="button strong" disabled={text.trim() === ""}>
        Preview
      </button>
    </form>
  )
}
