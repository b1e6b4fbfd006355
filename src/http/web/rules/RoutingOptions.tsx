import { useState } from "preact/hooks"
import { words as extras } from "../extras/words.ts"
import { Icon } from "../ui/Icon.tsx"
import { Failure, Loading } from "../ui/States.tsx"
import { useLoaded } from "../ui/hooks/useLoaded.ts"
import type { RoutingFieldsProps } from "./RoutingFields.tsx"

const LoadedFields = (props: RoutingFieldsProps) => {
  const fields = useLoaded(() => import("./RoutingFields.tsx").then(({ RoutingFields }) => RoutingFields), [])
  if (fields.state === "loading") return <Loading rows={2} />
  if (fields.state === "failed") return <Failure error={fields.error} retry={fields.reload} />
  const Fields = fields.value
  return <Fields {...props} />
}

/** The rules and variants of a link, which few links have: what edits them is loaded when it is opened. */
export const RoutingOptions = (props: RoutingFieldsProps) => {
  const [wasOpened, setOpened] = useState(false)
  return (
    <details class="options" onToggle={() => setOpened(true)}>
      <summary>
        <Icon name="forth" /> {extras().routing}
      </summary>
      {wasOpened && <LoadedFields {...props} />}
    </details>
  )
}
