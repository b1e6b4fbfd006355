import { coin } from "../../pages/Emblem.ts"

/** Drawn by strokes on a grid of 24. */
const paths = {
  coin,
  mint: "M4 20h16M7 20v-4h10v4M12 3v6M8.5 6.5h7M6 12.5h12v3.5H6z",
  links: "M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01",
  chart: "M4 4v16h16M8 15l3.5-4.5 3 2.5L20 7",
  key: "M8 11a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM11 12l8.5-8.5M15.5 7.5l3 3M18 5l2.5 2.5",
  cluster:
    "M12 3.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5ZM5.5 15a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5ZM18.5 15a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5ZM10.8 8.2l-4.1 7M13.2 8.2l4.1 7M8 17.5h8",
  users:
    "M9 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7ZM2.5 20c0-3.6 2.9-6 6.5-6s6.5 2.4 6.5 6M15.5 5a3.5 3.5 0 0 1 0 6.5M18 14.8c2.1.9 3.5 2.8 3.5 5.2",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M4.5 12.5l5 5 10-11",
  qr: "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2v2h-2zM18 18h2v2h-2zM18 14h2M14 18v2",
  edit: "M4 20l1-4.5L16.5 4 20 7.5 8.5 19 4 20ZM14 6.5l3.5 3.5",
  trash: "M4.5 7h15M9 7V4h6v3M6.5 7l1 13h9l1-13M10 11v5.5M14 11v5.5",
  archive: "M4 5h16v4H4zM5.5 9v10h13V9M10 13h4",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14ZM16 16l4.5 4.5",
  light:
    "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22M5 5l1.7 1.7M17.3 17.3L19 19M5 19l1.7-1.7M17.3 6.7L19 5",
  dark: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5Z",
  auto: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 3v18M12 7.5h4.5M12 12h8.5M12 16.5h4.5",
  download: "M12 4v11M7.5 11l4.5 4.5 4.5-4.5M4 20h16",
  upload: "M12 16V5M7.5 9L12 4.5 16.5 9M4 20h16",
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  clock: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17ZM12 8v4.5l3 2",
  back: "M14.5 5.5L8 12l6.5 6.5",
  forth: "M9.5 5.5L16 12l-6.5 6.5",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12ZM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5Z"
} as const

/** What can be drawn. */
export type IconName = keyof typeof paths

/** A small picture beside or in place of a word. What it means is said by the word, or by its button's label. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
)
