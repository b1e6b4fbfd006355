import { Markup, markup } from "../report/page/Markup.ts"
import { style } from "../report/page/style.ts"
import { brokenBy, type Column, columns, type Result, shown } from "./Columns.ts"

const ownStyle = `
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px }
.wide-table { overflow-x: auto }
th, td { padding: 4px 10px; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top }
th:first-child, td:first-child, td:last-child, th:last-child { text-align: left }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(430px, 1fr)); gap: 20px 28px }
.plot { display: grid; grid-template-columns: 190px 1fr 64px; gap: 3px 8px; align-items: center; font-size: 12px }
.plot h3 { margin: 0 0 4px }
.plot span { color: var(--faint); text-align: right; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.plot i { display: block; height: 12px; border-radius: 3px; background: var(--creates); min-width: 1px }
.plot i.broken { background: var(--bad) }
.plot b { font-weight: 500; font-variant-numeric: tabular-nums }
`

/** Bars from 0 to the greatest value. */
const plot = ({ of, title, unit }: Column, results: ReadonlyArray<Result>): Markup => {
  const most = Math.max(...results.map(of))
  return markup`<div class="plot"><h3>${title}</h3>${results.map((result) => {
    const { isBroken, name } = result.contestant
    const width = most === 0 ? 0 : (100 * of(result)) / most
    return markup`<span>${name}</span><div><i class="${isBroken ? "broken" : "sound"}" style="width:${width.toFixed(2)}%"></i></div><b>${shown(of(result))} ${unit}</b>`
  })}</div>`
}

/** What a page says of where its figures come from. */
export interface Origin {
  readonly from: number
  readonly seeds: number
  readonly commit: string
}

/** A page that compares contestants: it stands alone and loads nothing. */
export const pageOf = (results: ReadonlyArray<Result>, { commit, from, seeds }: Origin): string =>
  markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Designs of key generation compared</title>
<style>${new Markup(style + ownStyle)}</style>
</head>
<body>
<header><h1>Designs of key generation, under the same faults</h1></header>
<p>Seeds ${from} to ${from + seeds - 1}, commit <code>${commit}</code>. Less is better in every plot; designs that are broken on purpose are red.</p>
<div class="plots">${columns.map((column) => plot(column, results))}</div>
<h2>Figures</h2>
<div class="wide-table"><table>
<tr><th>Design</th>${columns.map(({ title, unit }) => markup`<th>${title}${unit === "" ? "" : `, ${unit}`}</th>`)}<th>Broken promises</th></tr>
${results.map(
  (result) =>
    markup`<tr><td><b>${result.contestant.name}</b></td>${columns.map(({ of }) => markup`<td>${shown(of(result))}</td>`)}<td>${brokenBy(result)}</td></tr>\n`
)}</table></div>
<h2>Designs</h2>
<dl class="facts">${results.map(({ contestant: { name, title } }) => markup`<div class="wide"><dt>${name}</dt><dd>${title}</dd></div>`)}</dl>
</body>
</html>
`.text
