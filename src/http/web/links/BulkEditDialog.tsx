import { useEffect, useRef, useState } from "preact/hooks"
import { asApiError, detailOf } from "../api/Client.ts"
import * as Links from "../api/Links.ts"
import type { BulkEdited } from "../api/Types.ts"
import { counted, fill } from "../language/fill.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Field } from "../ui/Field.tsx"
import { formatNumber, fromLocalInput } from "../ui/format.ts"
import { Progress } from "../ui/Progress.tsx"
import { tagsOf } from "../ui/tags.ts"
import { say } from "../ui/Toasts.tsx"
import { words as common } from "../ui/words.ts"
import { FaultList } from "./FaultList.tsx"
import { words } from "./words.ts"

/** Faults of links that are listed at most. */
const faultsMax = 20

/** The names of the texts of what can be done. */
const texts = {
  change: { progress: "changeDone", asked: "changesMany", button: "changeMany", done: "manyChanged" },
  archive: { progress: "archiveDone", asked: "archivesMany", button: "archiveMany", done: "manyArchived" },
  unarchive: {
    progress: "unarchiveDone",
    asked: "unarchivesMany",
    button: "unarchiveMany",
    done: "manyUnarchived"
  },
  delete: { progress: "deleteDone", asked: "deletesMany", button: "deleteMany", done: "manyDeleted" }
} as const

interface Draft {
  readonly what: keyof typeof texts
  readonly added: string
  readonly removed: string
  readonly expiresAt: string
}

/** What is asked of the service; `undefined` while nothing is chosen. */
const wishOf = ({ added, expiresAt, removed, what }: Draft): Links.Edit | undefined => {
  if (what === "delete") return { delete: true }
  if (what !== "change") return { change: { archived: what === "archive" } }
  const [addTags, removeTags] = [tagsOf(added), tagsOf(removed)]
  const change = {
    ...(addTags.length > 0 && { addTags }),
    ...(removeTags.length > 0 && { removeTags }),
    ...(expiresAt !== "" && { expiresAt: fromLocalInput(expiresAt) })
  }
  return Object.keys(change).length === 0 ? undefined : { change }
}

interface BulkEditDialogProps {
  readonly filter: Links.Filter
  readonly onClose: () => void
  /** Some links may be others now. */
  readonly onDone: () => void
}

/** Changes or deletes all links of a filter: says how many they are, asks, and goes through them. */
export const BulkEditDialog = ({ filter, onClose, onDone }: BulkEditDialogProps) => {
  const [t, c] = [words(), common()]
  const [draft, setDraft] = useState<Draft>({
    what: "change",
    added: "",
    removed: filter.tag ?? "",
    expiresAt: ""
  })
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  const [total, setTotal] = useState<NonNullable<BulkEdited["total"]>>()
  const [done, setDone] = useState<number>()
  const [faults, setFaults] = useState<ReadonlyArray<string>>([])
  const leaving = useRef(new AbortController())
  useEffect(() => () => leaving.current.abort(), [])

  const wish = wishOf(draft)
  const isBusy = done !== undefined
  const many = total === undefined ? "" : counted(total.isExact ? c.links : c.moreThanLinks, total.count)

  /** Has the links counted, for the question. */
  const count = async () => {
    if (wish === undefined) return
    setFaults([])
    try {
      setTotal((await Links.editMany(filter, { ...wish, dryRun: true }, leaving.current.signal)).total)
    } catch (error) {
      if (!leaving.current.signal.aborted) setFaults([asApiError(error).message])
    }
  }

  const run = async () => {
    if (wish === undefined) return
    const failed: Array<string> = []
    let [seen, changed] = [0, 0]
    let isPartial = false
    let cursor: string | null = null
    setDone(0)
    try {
      do {
        const body = { ...wish, ...(cursor !== null && { cursor }) }
        const part: BulkEdited = await Links.editMany(filter, body, leaving.current.signal)
        for (const result of part.results) {
          if (!("problem" in result)) continue
          failed.push(fill(words().faultOf, { key: result.key, fault: detailOf(result.problem) }))
        }
        seen += part.results.length
        changed += part.changed
        isPartial ||= part.partial === true
        setDone(seen)
        // Where the service is away it fails for all of them: another try is left to who asks.
        if (part.results.some(({ status }) => status === 503)) break
        cursor = part.nextCursor
      } while (cursor !== null)
    } catch (error) {
      if (leaving.current.signal.aborted) return
      failed.push(asApiError(error).message)
    }
    if (isPartial) failed.push(words().notEdited)
    onDone()
    setDone(undefined)
    setTotal(undefined)
    setFaults(
      failed.length > faultsMax
        ? [
            ...failed.slice(0, faultsMax),
            fill(words().andMore, { count: formatNumber(failed.length - faultsMax) })
          ]
        : failed
    )
    if (failed.length > 0) return
    say(counted(words()[texts[draft.what].done], changed))
    onClose()
  }

  const text = (
    name: "added" | "removed" | "expiresAt",
    label: string,
    hint: string,
    attributes: object = {}
  ) => (
    <Field label={label} hint={hint}>
      {(control) => (
        <input
          {...control}
          {...attributes}
          autocomplete="off"
          value={draft[name]}
          disabled={total !== undefined}
          onInput={({ currentTarget }) => set({ [name]: currentTarget.value })}
        />
      )}
    </Field>
  )

  return (
    <Dialog title={t.editAll} onClose={onClose}>
      <form
        class="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) void (total === undefined ? count() : run())
        }}
      >
        <Field label={t.what} hint={t.whatHint}>
          {(control) => (
            <select
              {...control}
              value={draft.what}
              disabled={total !== undefined}
              onChange={({ currentTarget }) => set({ what: currentTarget.value as Draft["what"] })}
            >
              <option value="change">{t.changeThem}</option>
              <option value="archive">{t.archiveThem}</option>
              <option value="unarchive">{t.unarchiveThem}</option>
              <option value="delete">{t.deleteThem}</option>
            </select>
          )}
        </Field>
        {draft.what === "change" && (
          <>
            {text("added", t.addTags, c.commas)}
            {text("removed", t.takeTags, t.takeTagsHint)}
            {text("expiresAt", t.endsAt, t.asItIs, { type: "datetime-local" })}
          </>
        )}
        <div class="dialog-end">
          <FaultList faults={faults} />
          {isBusy && (
            <Progress
              label={t[texts[draft.what].progress]}
              done={done}
              total={Math.max(done, total?.count ?? 0)}
            />
          )}
          {/* With keys, or a button would become the one in its place while it is clicked. */}
          {total === undefined ? (
            <div key="usual" class="actions end">
              <button type="button" class="button plain" onClick={onClose}>
                {c.cancel}
              </button>
              <button type="submit" class="button strong" disabled={wish === undefined}>
                {t.count}
              </button>
            </div>
          ) : (
            <div key="sure" class="actions end">
              <p role="alert">{fill(t[texts[draft.what].asked], { links: many })}</p>
              <button
                type="button"
                class="button plain"
                disabled={isBusy}
                onClick={() => setTotal(undefined)}
              >
                {c.back}
              </button>
              <button type="submit" class="button strong" disabled={isBusy || total.count === 0}>
                {fill(t[texts[draft.what].button], { links: many })}
              </button>
            </div>
          )}
        </div>
      </form>
    </Dialog>
  )
}
