import { useRef, useState } from "preact/hooks"
import { type Filter, nameOf } from "../api/Links.ts"
import type { Link, Links } from "../api/Types.ts"
import { lastList } from "../app/Paths.ts"
import { go, here } from "../app/Router.ts"
import { useDomains } from "../domains/useDomains.ts"
import { counted, fill, rich } from "../language/fill.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Icon } from "../ui/Icon.tsx"
import { LazyQr } from "../ui/qr/LazyQr.tsx"
import { PageButtons } from "../ui/PageButtons.tsx"
import { Empty, Failure, Loading } from "../ui/States.tsx"
import { say } from "../ui/Toasts.tsx"
import { words as common } from "../ui/words.ts"
import { archive } from "./archiving.ts"
import { BulkEditDialog } from "./BulkEditDialog.tsx"
import { deleting, removeSoon } from "./deleting.ts"
import { EditDialog } from "./EditDialog.tsx"
import { ExportButtons } from "./ExportButtons.tsx"
import { FilterBar } from "./FilterBar.tsx"
import { LinkRow } from "./LinkRow.tsx"
import { chosenMax, Selection } from "./Selection.tsx"
import { useList } from "./useList.ts"
import { words } from "./words.ts"
import "./links.css"

const archives: ReadonlyArray<Filter["archived"]> = ["true", "any"]

/** What the address calls the orders beside the usual one. */
const orders: Readonly<Record<string, Required<Filter>["orderBy"]>> = {
  oldest: "createdAt-asc",
  visits: "visits-desc",
  visited: "lastVisit-desc"
}

/** The filter stands in the address, so that it can be kept and passed on. */
const filterOf = ({ searchParams }: URL): Required<Filter> => ({
  q: searchParams.get("q") ?? "",
  tag: searchParams.get("tag") ?? "",
  notTag: searchParams.get("notTag") ?? "",
  archived: archives.find((one) => one === searchParams.get("archived")) ?? "",
  domain: searchParams.get("domain") ?? "",
  orderBy: orders[searchParams.get("order") ?? ""] ?? "createdAt-desc"
})

const pathOf = ({ archived, domain, notTag, orderBy, q, tag }: Required<Filter>): string => {
  const parameters = Object.entries({
    q,
    tag,
    notTag,
    archived,
    domain,
    order: Object.keys(orders).find((name) => orders[name] === orderBy) ?? ""
  })
  const query = new URLSearchParams(parameters.filter(([, value]) => value !== "")).toString()
  return query === "" ? "/app/links" : `/app/links?${query}`
}

const Nothing = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title={words().nothingFound}>
      <p>{words().nothingFoundText}</p>
    </Empty>
  ) : (
    <Empty title={words().none}>
      <p>
        {rich(words().noneText, {
          home: (inner) => <a href="/">{inner}</a>,
          add: (inner) => <a href="/app/add">{inner}</a>
        })}
      </p>
    </Empty>
  )

const totalOf = ({ count, isExact }: NonNullable<Links["total"]>, less: number): string =>
  isExact ? counted(common().links, Math.max(0, count - less)) : counted(words().moreThan, count)

/** One's links. */
export const LinksPage = () => {
  const t = words()
  const filter = filterOf(here.value)
  const list = useList(filter)
  const domains = useDomains()
  const rows = useRef<HTMLUListElement>(null)
  const [edited, setEdited] = useState<Link>()
  const [shown, setShown] = useState<Link>()
  const [editsAll, setEditsAll] = useState(false)
  const [changed, setChanged] = useState<ReadonlyMap<string, Link>>(new Map())
  const [chosen, setChosen] = useState<ReadonlyMap<string, Link>>(new Map())
  lastList.value = here.value.pathname + here.value.search
  const change = (part: Partial<Filter>, options?: { readonly replaces: boolean }) =>
    go(pathOf({ ...filter, ...part }), options)
  const page = list.state === "loaded" ? list.value : undefined
  const links = (page?.data ?? [])
    .filter((link) => !deleting.value.has(nameOf(link)))
    .map((link) => changed.get(nameOf(link)) ?? link)
    .filter(({ archived = false }) => filter.archived === "any" || archived === (filter.archived === "true"))
  const noteChanged = (link: Link) => setChanged((before) => new Map([...before, [nameOf(link), link]]))
  const choose = (some: ReadonlyArray<Link>, isChosen: boolean) => {
    const after = new Map(chosen)
    for (const link of some) {
      if (isChosen && after.size < chosenMax) after.set(nameOf(link), link)
      else if (!isChosen) after.delete(nameOf(link))
    }
    setChosen(after)
  }
  const chosenLinks = [...chosen.values()]
    .filter((link) => !deleting.value.has(nameOf(link)))
    .map((link) => changed.get(nameOf(link)) ?? link)

  return (
    <>
      <header class="page-header">
        <h1>{t.title}</h1>
        <div class="actions">
          <ExportButtons filter={filter} />
          <a class="button plain" href="/app/add">
            <Icon name="upload" /> {t.addMany}
          </a>
          <a class="button strong" href="/">
            <Icon name="plus" /> {t.new}
          </a>
        </div>
      </header>
      <FilterBar filter={filter} domains={domains} onChange={change} />
      {list.state === "loading" && <Loading rows={6} />}
      {list.state === "failed" && <Failure error={list.error} retry={list.reload} />}
      {page?.partial === true && (
        <p class="fault" role="alert">
          {t.partial}
        </p>
      )}
      {page && links.length === 0 && (
        <Nothing
          isFiltered={
            [filter.q, filter.tag, filter.notTag, filter.archived, filter.domain].some(
              (part) => part !== ""
            ) || list.back !== undefined
          }
        />
      )}
      {links.length > 0 && (
        <>
          <div class="list-head">
            <label class="choose">
              <input
                type="checkbox"
                aria-label={t.chooseAll}
                checked={links.every((link) => chosen.has(nameOf(link)))}
                onChange={({ currentTarget }) => choose(links, currentTarget.checked)}
              />
            </label>
            {page?.total && (
              <p class="soft" role="status">
                {totalOf(page.total, page.data.length - links.length)}
              </p>
            )}
            <button type="button" class="quiet" onClick={() => setEditsAll(true)}>
              {t.editAll}
            </button>
          </div>
          <ul class="links" ref={rows} tabIndex={-1} aria-label={t.title}>
            {links.map((link) => (
              <LinkRow
                key={nameOf(link)}
                link={link}
                visits={list.visitsOf(link)}
                isChosen={chosen.has(nameOf(link))}
                onChoose={(isChosen) => choose([link], isChosen)}
                onTag={(tag) => change({ tag })}
                onEdit={() => setEdited(link)}
                onQr={() => setShown(link)}
                onArchive={() => {
                  void archive([link], link.archived !== true, noteChanged)
                  rows.current?.focus()
                }}
                onDelete={() => {
                  removeSoon([nameOf(link)])
                  // The button that had the focus goes with its row.
                  rows.current?.focus()
                }}
              />
            ))}
          </ul>
        </>
      )}
      <PageButtons {...list} />
      {chosenLinks.length > 0 && (
        <Selection links={chosenLinks} onChanged={noteChanged} onClear={() => setChosen(new Map())} />
      )}
      {edited && (
        <EditDialog
          link={edited}
          onClose={() => setEdited(undefined)}
          onChanged={(link) => {
            noteChanged(link)
            setEdited(undefined)
            say(fill(words().changed, { key: link.key }))
          }}
        />
      )}
      {editsAll && (
        <BulkEditDialog
          filter={filter}
          onClose={() => setEditsAll(false)}
          onDone={() => {
            setChanged(new Map())
            setChosen(new Map())
            list.reload()
          }}
        />
      )}
      {shown && (
        <Dialog title={`/${shown.key}`} onClose={() => setShown(undefined)}>
          <LazyQr text={shown.shortUrl} name={`qr-${shown.key}`} />
        </Dialog>
      )}
    </>
  )
}
