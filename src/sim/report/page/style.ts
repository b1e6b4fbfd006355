/** The page's style sheet: light and dark as the reader's system has it. */
export const style = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#ffffff, #14171c);
  --card: light-dark(#f5f6f8, #1c2027);
  --ink: light-dark(#1b1f24, #e4e8ee);
  --faint: light-dark(#656d78, #98a1ae);
  --line: light-dark(#dde1e6, #2e343d);
  --lane: light-dark(#fafbfc, #181c22);
  --good: light-dark(#1a7f4b, #4cc38a);
  --bad: light-dark(#d1242f, #ff6369);
  --warn: light-dark(#b8720a, #f0b44c);
  --up: light-dark(#8fcfae, #2d7355);
  --paused: light-dark(#f2c14e, #c08a17);
  --draining: light-dark(#9db8ef, #44609f);
  --fault: light-dark(#e8925f, #b96535);
  --level: light-dark(#b9cdf5, #33507f);
  --creates: light-dark(#5b8def, #5b8def);
  --redirects: light-dark(#b9d0fa, #35507f);
  --n0: #4c78d8; --n1: #e0a526; --n2: #3fa66b; --n3: #9a63d6;
  --n4: #38a9b8; --n5: #d977b0; --n6: #8d6e58; --n7: #8c96a3;
}
* { box-sizing: border-box }
body { margin: 0 auto; padding: 24px 28px 64px; max-width: 1500px; background: var(--paper); color: var(--ink);
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
h1 { font-size: 24px; margin: 0; display: inline-block }
h2 { font-size: 17px; margin: 32px 0 8px }
h3 { grid-column: 1 / -1; font-size: 13px; margin: 16px 0 4px; color: var(--ink) }
h3 small { font-weight: 400; color: var(--faint); margin-left: 6px }
code, pre { font: 12px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 10px 12px; margin: 6px 0;
  overflow-x: auto; max-height: 480px }
header { display: flex; align-items: center; gap: 14px; flex-wrap: wrap }
.verdict { padding: 3px 12px; border-radius: 99px; font-weight: 600; font-size: 13px; color: var(--paper) }
.verdict.kept { background: var(--good) }
.verdict.broken { background: var(--bad) }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(190px, 1fr)); gap: 8px; margin: 18px 0 8px }
.facts div { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 7px 11px; min-width: 0 }
.facts dt { color: var(--faint); font-size: 12px }
.facts dd { margin: 0; font-weight: 550; overflow-wrap: anywhere; font-variant-numeric: tabular-nums }
.facts dd small { display: block; font-weight: 400; color: var(--faint) }
.facts .wide { grid-column: span 2 }
.facts code { font-weight: 400 }
.violation-list { list-style: none; padding: 0 }
.violation-list li { border-left: 3px solid var(--bad); padding: 2px 0 2px 12px; margin: 10px 0 }
.violation-list b { color: var(--bad) }
summary { cursor: pointer; color: var(--faint) }
.tools { display: flex; align-items: center; gap: 6px; flex-wrap: wrap; color: var(--faint); margin: 6px 0 }
button { font: inherit; font-size: 12px; color: var(--ink); background: var(--card); border: 1px solid var(--line);
  border-radius: 5px; padding: 2px 10px; cursor: pointer }
button:hover { border-color: var(--faint) }
.legend { display: flex; gap: 4px 16px; flex-wrap: wrap; color: var(--faint); font-size: 12px; margin: 8px 0 0 }
.legend i { display: inline-block; width: 12px; height: 12px; border-radius: 3px; vertical-align: -2px; margin-right: 5px }
.picture { display: grid; grid-template-columns: 132px minmax(0, 1fr); column-gap: 10px; row-gap: 2px; position: relative;
  align-items: center }
.label { text-align: right; font-size: 12px; color: var(--faint); white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; line-height: 1.25 }
.axis, .corner { position: sticky; top: 0; z-index: 3; height: 24px; background: var(--paper); border-bottom: 1px solid var(--line);
  overflow: hidden }
.axis { cursor: crosshair }
.axis span { position: absolute; bottom: 2px; padding-left: 4px; border-left: 1px solid var(--faint); font-size: 11px; line-height: 1.3;
  color: var(--faint); font-variant-numeric: tabular-nums; white-space: nowrap }
svg.lane { display: block; width: 100%; background: var(--lane); border-radius: 3px; overflow: hidden; cursor: crosshair }
svg.lane > * { vector-effect: non-scaling-stroke }
rect.up { fill: var(--up) }
rect.down { fill: color-mix(in srgb, var(--bad) 22%, transparent) }
rect.paused { fill: var(--paused) }
rect.draining { fill: var(--draining) }
rect.fault { fill: var(--fault); stroke: var(--fault); stroke-width: 1.5px }
rect.away { fill: color-mix(in srgb, var(--fault) 30%, transparent); stroke: var(--fault); stroke-width: 1px }
rect.column { fill: transparent }
rect.column:hover { fill: color-mix(in srgb, var(--ink) 12%, transparent) }
rect.overlap { fill: transparent; stroke: var(--bad); stroke-width: 2px }
path { fill: none }
path.level { fill: var(--level) }
path.creates { fill: var(--creates) }
path.redirects { fill: var(--redirects) }
path.failed { fill: var(--bad) }
path.slowest { fill: var(--level) }
path.mark-low, path.mark-high { stroke: var(--faint); stroke-width: 1px; stroke-dasharray: 2 3 }
path.heal { stroke: var(--good); stroke-width: 1.5px; stroke-dasharray: 5 4; pointer-events: none }
path.violation { stroke: color-mix(in srgb, var(--bad) 55%, transparent); stroke-width: 1.5px; pointer-events: none }
path.mark { stroke-width: 2px; stroke: var(--ink) }
path.mark.kill, path.mark.failure, path.mark.fenced { stroke: var(--bad) }
path.mark.found { stroke: var(--bad); stroke-width: 4px }
path.mark.fault { stroke: var(--fault); stroke-width: 3px }
path.mark.start { stroke: var(--good) }
path.mark.end { stroke: var(--faint) }
path.mark.conflict { stroke: var(--warn); stroke-width: 3px }
path.mark.claimed { stroke: var(--ink) }
${Array.from({ length: 8 }, (_, index) => `rect.node-${index} { fill: var(--n${index}) } path.mark.node-${index} { stroke: var(--n${index}) }`).join("\n")}
.cross { position: absolute; top: 0; bottom: 0; width: 1px; background: var(--faint); pointer-events: none; z-index: 2; display: none }
.choice { position: absolute; top: 24px; bottom: 0; background: color-mix(in srgb, var(--creates) 22%, transparent); pointer-events: none;
  z-index: 2; display: none }
.tip { position: fixed; z-index: 9; max-width: 480px; padding: 5px 9px; border-radius: 5px; background: var(--ink); color: var(--paper);
  font-size: 12px; pointer-events: none; display: none; overflow-wrap: anywhere }
@media print { .tools { display: none } }
`
