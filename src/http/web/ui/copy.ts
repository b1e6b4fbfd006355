/** Puts a text into the clipboard; gives whether it is there. The modern way works in secure contexts alone, the old one everywhere. */
export const copy = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement("textarea")
    area.value = text
    area.className = "visually-hidden"
    // Within an open dialog nothing outside it can be selected.
    const host = document.querySelector("dialog[open]") ?? document.body
    host.append(area)
    area.select()
    const isCopied = document.execCommand("copy")
    area.remove()
    return isCopied
  }
}
