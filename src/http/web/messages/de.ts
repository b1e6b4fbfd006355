import account from "./de/account.ts"
import answers from "./de/answers.ts"
import audit from "./de/audit.ts"
import cluster from "./de/cluster.ts"
import domains from "./de/domains.ts"
import extras from "./de/extras.ts"
import frame from "./de/frame.ts"
import importing from "./de/import.ts"
import keys from "./de/keys.ts"
import links from "./de/links.ts"
import qr from "./de/qr.ts"
import rules from "./de/rules.ts"
import shorten from "./de/shorten.ts"
import stats from "./de/stats.ts"
import ui from "./de/ui.ts"
import users from "./de/users.ts"
import utm from "./de/utm.ts"
import webhooks from "./de/webhooks.ts"

/** The page in German, by area. */
export default {
  account,
  answers,
  audit,
  cluster,
  domains,
  extras,
  frame,
  import: importing,
  keys,
  links,
  qr,
  rules,
  shorten,
  stats,
  ui,
  users,
  utm,
  webhooks
}
