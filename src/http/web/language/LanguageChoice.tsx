import { asApiError } from "../api/Client.ts"
import { frameWords } from "../app/words.ts"
import { fail } from "../ui/Toasts.tsx"
import { choose, language, languages } from "./Language.ts"

const nameOf = (tag: string): string => new Intl.DisplayNames(tag, { type: "language" }).of(tag) ?? tag

/** In which language the page speaks. */
export const LanguageChoice = () => (
  <select
    class="language"
    aria-label={frameWords().language}
    value={language.value}
    onChange={({ currentTarget }) =>
      void choose(currentTarget.value).catch((error: unknown) => fail(asApiError(error)))
    }
  >
    {languages.map((tag) => (
      <option key={tag} value={tag} lang={tag}>
        {nameOf(tag)}
      </option>
    ))}
  </select>
)
