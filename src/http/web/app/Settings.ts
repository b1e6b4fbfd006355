import type { PageSettings } from "../../pages/WebAssets.ts"

const content = document.querySelector<HTMLMetaElement>("meta[name=linkmint]")!.content

/** What the operator has chosen. */
export const settings: PageSettings = JSON.parse(content) as PageSettings

/** The host name of the default domain. */
export const ownHost: string = new URL(`http://${settings.shortHost}`).hostname
