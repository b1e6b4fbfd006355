import { render } from "preact"
import "./styles/base.css"
import { App } from "./app/App.tsx"
import * as Session from "./app/Session.ts"
import * as Language from "./language/Language.ts"

void Session.load()
// Without `await`, which would have the build take what all places share, the styles among it, out of the page's first script.
void Language.begin().then(() => render(<App />, document.getElementById("app")!))
