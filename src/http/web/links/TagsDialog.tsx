import { useState } from "preact/hooks"
import * as Links from "../api/Links.ts"
import type { Link } from "../api/Types.ts"
import { asApiError } from "../api/Client.ts"
import { counted, fill } from "../language/fill.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Field } from "../ui/Field.tsx"
import { Progress } from "../ui/Progress.tsx"
import { tagsOf } from "../ui/tags.ts"
import { say } from "../ui/Toasts.tsx"
import { words as common } from "../ui/words.ts"
import { FaultList } from "./FaultList.tsx"
import { words } from "./words.ts"

interface TagsDialogProps {
  readonly links: ReadonlyArray<Link>
  readonly onClose: () => void
  readonly onChanged: (link: Link) => void
}

/** Adds tags to links and takes tags from them, one link after the other, in their order. */
export const TagsDialog = ({ links, onChanged, onClose }: TagsDialogProps) => {
  const [t, c] = [words(), common()]
  const [added, setAdded] = useState("")
  const [removed, setRemoved] = useState<ReadonlyArray<string>>([])
  const [done, setDone] = useState<number>()
  const [faults, setFaults] = useState<ReadonlyArray<string>>([])
  const present = [...new Set(links.flatMap(({ tags }) => tags))]

  const run = async () => {
    const failed: Array<string> = []
    for (const [index, link] of links.entries()) {
      setDone(index)
      const tags = [...new Set([...link.tags.filter((tag) => !removed.includes(tag)), ...tagsOf(added)])]
      if (tags.join() === link.tags.join()) continue
      try {
        onChanged(await Links.change(Links.nameOf(link), { tags }))
      } catch (error) {
        const fault = asApiError(error)
        failed.push(fill(words().faultOf, { key: link.key, fault: fault.faultOf("tags") ?? fault.message }))
      }
    }
    setDone(undefined)
    setFaults(failed)
    if (failed.length > 0) return
    say(counted(words().tagsChanged, links.length))
    onClose()
  }

  return (
    <Dialog title={counted(t.tagsOf, links.length)} onClose={onClose}>
      <form
        class="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (done === undefined) void run()
        }}
      >
        <Field label={t.add} hint={c.commas}>
          {(control) => (
            <input
              {...control}
              autocomplete="off"
              value={added}
              onInput={({ currentTarget }) => setAdded(currentTarget.value)}
            />
          )}
        </Field>
        {present.length > 0 && (
          <fieldset>
            <legend>{t.takeAway}</legend>
            <div class="actions">
              {present.map((tag) => (
                <button
                  key={tag}
                  type="button"
                  class={removed.includes(tag) ? "tag chosen" : "tag"}
                  aria-pressed={removed.includes(tag)}
                  onClick={() =>
                    setRemoved(
                      removed.includes(tag) ? removed.filter((other) => other !== tag) : [...removed, tag]
                    )
                  }
                >
                  {tag}
                </button>
              ))}
            </div>
          </fieldset>
        )}
        <div class="dialog-end">
          <FaultList faults={faults} />
          {done !== undefined && <Progress label={t.changeDone} done={done} total={links.length} />}
          <div class="actions end">
            <button type="button" class="button plain" onClick={onClose}>
              {c.cancel}
            </button>
            <button
              type="submit"
              class="button strong"
              disabled={done !== undefined || (tagsOf(added).length === 0 && removed.length === 0)}
            >
              {c.save}
            </button>
          </div>
        </div>
      </form>
    </Dialog>
  )
}
