import { type FrameWord, frameWords } from "../app/words.ts"
import { here } from "../app/Router.ts"

interface TabsProps {
  readonly name: FrameWord
  readonly tabs: ReadonlyArray<readonly [to: string, name: FrameWord]>
}

/** The ways between places that belong together. */
export const Tabs = ({ name, tabs }: TabsProps) => (
  <nav class="actions" aria-label={frameWords()[name]}>
    {tabs.map(([to, place]) => (
      <a
        key={to}
        class="button plain"
        href={to}
        {...(here.value.pathname === to && { "aria-current": "page" as const })}
      >
        {frameWords()[place]}
      </a>
    ))}
  </nav>
)

/** What programs are given. */
export const ProgramTabs = () => (
  <Tabs
    name="forPrograms"
    tabs={[
      ["/app/keys", "keys"],
      ["/app/webhooks", "webhooks"]
    ]}
  />
)

/** The pages of administrators. */
export const AdminTabs = () => (
  <Tabs
    name="administration"
    tabs={[
      ["/app/users", "users"],
      ["/app/domains", "domains"],
      ["/app/audit", "audit"]
    ]}
  />
)
