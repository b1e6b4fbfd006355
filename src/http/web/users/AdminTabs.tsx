import { here } from "../app/Router.ts"

const tabs = [
  ["/app/users", "Users"],
  ["/app/audit", "Audit log"]
] as const

/** The ways between the pages of administrators. */
export const AdminTabs = () => (
  <nav class="actions" aria-label="Administration">
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
