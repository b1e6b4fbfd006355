import { here } from "../app/Router.ts"

interface TabsProps {
  readonly label: string
  readonly tabs: ReadonlyArray<readonly [to: string, name: string]>
}

/** The ways between places that belong together. */
export const Tabs = ({ label, tabs }: TabsProps) => (
  <nav class="actions" aria-label={label}>
    {tabs.map(([to, name]) => (
      <a
        key={to}
        class="button plain"
        href={to}
        {...(here.value.pathname === to && { "aria-current": "page" as const })}
      >
        {name}
      </a>
    ))}
  </nav>
)

/** What programs are given. */
export const ProgramTabs = () => (
  <Tabs
    label="For programs"
    tabs={[
      ["/app/keys", "API keys"],
      ["/app/webhooks", "Webhooks"]
    ]}
  />
)

/** The pages of administrators. */
export const AdminTabs = () => (
  <Tabs
    label="Administration"
    tabs={[
      ["/app/users", "Users"],
      ["/app/domains", "Domains"],
      ["/app/audit", "Audit log"]
    ]}
  />
)
