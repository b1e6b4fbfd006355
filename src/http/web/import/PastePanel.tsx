import { useState } from "preact/hooks"
import { Field } from "../ui/Field.tsx"
import { lookAtLines, type Source } from "./reading.ts"
import { words } from "./words.ts"

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
      <h2>{words().pasted}</h2>
      <Field label={words().oneALine} hint={words().oneALineHint}>
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
        {words().preview}
      </button>
    </form>
  )
}
