/**
 * Rows of cells as lines of text, with two spaces between columns. The columns whose numbers are in `left` are aligned to the left, all others to the
 * right. Each row has as many cells as the first.
 */
export const textTable = (
  rows: ReadonlyArray<ReadonlyArray<string>>,
  left: ReadonlySet<number> = new Set([0])
): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          left.has(column) ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)
        )
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}
