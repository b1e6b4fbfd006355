import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** The nearest `package.json` above this file: how far above differs between sources and the build. */
const packageFile = (from: URL): URL => {
  const file = new URL("package.json", from)
  const above = new URL("..", from)
  return existsSync(fileURLToPath(file)) || above.href === from.href ? file : packageFile(above)
}

/** The program's version, as `package.json` has it. */
export const version: string = (
  JSON.parse(readFileSync(packageFile(new URL(".", import.meta.url)), "utf8")) as { readonly version: string }
).version
