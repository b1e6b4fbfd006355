/** What went wrong with some of many links. Nothing where nothing did. */
export const FaultList = ({ faults }: { readonly faults: ReadonlyArray<string> }) =>
  faults.length === 0 ? null : (
    <ul class="fault" role="alert">
      {faults.map((fault) => (
        <li key={fault}>{fault}</li>
      ))}
    </ul>
  )
