import { useLoaded } from "../hooks/useLoaded.ts"

/** {@link Qr}, loaded when it is first wanted. */
export const LazyQr = (props: { readonly text: string; readonly name: string }) => {
  const loaded = useLoaded(() => import("./Qr.tsx").then(({ Qr }) => Qr), [])
  if (loaded.state !== "loaded") return <div class="qr skeleton" />
  const Qr = loaded.value
  return <Qr {...props} />
}
