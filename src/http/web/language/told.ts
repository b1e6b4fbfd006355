import { computed } from "@preact/signals"
import { formatNumber } from "../ui/format.ts"
import { answers } from "./Language.ts"
import { translator } from "./translator.ts"

const translate = computed(() => translator(answers() ?? {}, formatNumber))

/** What the service said, in the page's language where that is known. */
export const told = (english: string): string => translate.value(english)
