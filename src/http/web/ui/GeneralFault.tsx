import type { ApiError } from "../api/Client.ts"

interface GeneralFaultProps {
  readonly error: ApiError | undefined
  /** Fields whose faults are shown beside them. */
  readonly fields: ReadonlyArray<string>
}

/** What is wrong with a form beside the faults of its fields. */
export const GeneralFault = ({ error, fields }: GeneralFaultProps) => {
  const fault = error?.generalFault(fields)
  return fault === undefined ? null : (
    <p class="fault" role="alert">
      {fault}
    </p>
  )
}
