import { render } from "preact"
import "./styles/base.css"
import { App } from "./app/App.tsx"
import * as Session from "./app/Session.ts"

void Session.load()
render(<App />, document.getElementById("app")!)
