/** Has the browser save a file. */
export const saveBlob = (blob: Blob, name: string): void => {
  const anchor = document.createElement("a")
  anchor.href = URL.createObjectURL(blob)
  anchor.download = name
  anchor.click()
  // Not at once: the browser has only begun to read it.
  setTimeout(() => URL.revokeObjectURL(anchor.href), 60_000)
}
