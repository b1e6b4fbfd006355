import type { Answer } from "./Answer.ts"
import * as Page from "./Page.ts"
import * as Problem from "./Problem.ts"
import type { Request } from "./Request.ts"
import { plainPolicy } from "./StrictHeaders.ts"

/**
 * The form may be sent, and the answer may lead anywhere: browsers hold what a form's answer redirects to against `form-action` as well. The page
 * has nothing of a request in it.
 */
const policy = plainPolicy.replace("form-action 'none'", "form-action http: https:")

/** Sent to the address of the page itself, so that its query string comes along. */
const form = `<form method="post">
<label>Password <input type="password" name="password" required autofocus maxlength="128" autocomplete="off"></label>
<button>Open</button>
</form>
`

const pages = {
  asked: Page.make({
    title: "Password needed",
    text: "A password guards this short link.",
    html: form
  }),
  wrong: Page.make({ title: "Password needed", text: "That was not the password.", html: form })
}

/** RFC 9110, section 15.5.2, wants a challenge; of a scheme that browsers do not know, so that they show the form. */
const challenge = { "www-authenticate": `Form realm="linkmint"` }

/** 401: asks for the password, by a form or as a problem. */
export const ask = (request: Request, why: "asked" | "wrong"): Answer => {
  if (!Page.prefersJson(request)) {
    return Page.answer(pages[why], 401, { ...challenge, "content-security-policy": policy })
  }
  const detail =
    why === "asked"
      ? "A password guards this link. Send it as the form field password with POST."
      : "That was not the password."
  const headers = { ...challenge, vary: "accept" }
  return Problem.answer({ kind: "password-required", detail, headers })
}
