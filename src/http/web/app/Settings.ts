import type { WebSettings } from "../../pages/WebAssets.ts"

const content = document.querySelector<HTMLMetaElement>("meta[name=linkmint]")!.content

/** What the operator has chosen. */
export const settings: WebSettings = JSON.parse(content) as WebSettings

/** The host name of the default domain. */
export const ownHost: string = new URL(`http://${settings.shortHost}`).hostname
