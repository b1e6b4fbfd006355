/** What the page does in a browser: texts at the pointer, and zooming by dragging, Ctrl and the wheel, or buttons. It works without, too. */
export const script = `
"use strict"
const picture = document.querySelector(".picture")
const axis = document.querySelector(".axis")
const lanes = Array.from(document.querySelectorAll("svg.lane"))
const end = Number(picture.dataset.end)
const add = (name, parent) => {
  const element = document.createElement("div")
  element.className = name
  return parent.appendChild(element)
}
const tip = add("tip", document.body)
const cross = add("cross", picture)
const choice = add("choice", picture)
let [from, to] = [0, end]

for (const title of document.querySelectorAll("svg.lane title")) {
  title.parentNode.dataset.tip = title.textContent
  title.remove()
}

const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 3e4, 6e4, 12e4, 3e5, 6e5, 12e5]
const draw = () => {
  for (const lane of lanes) lane.setAttribute("viewBox", from + " 0 " + (to - from) + " " + lane.getAttribute("height"))
  const step = steps.find((step) => (to - from) / step <= 14) ?? steps.at(-1)
  axis.replaceChildren()
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const tick = document.createElement("span")
    tick.style.left = (100 * (at - from)) / (to - from) + "%"
    tick.textContent = Number((at / 1000).toFixed(3)) + " s"
    axis.append(tick)
  }
}
const show = (first, last) => {
  const width = Math.min(end, Math.max(5, last - first))
  from = Math.min(Math.max(0, first), end - width)
  to = from + width
  draw()
}
const zoom = (factor, at = (from + to) / 2) => show(at - (at - from) * factor, at + (to - at) * factor)
const timeAt = (event) => {
  const { left, width } = axis.getBoundingClientRect()
  return from + ((to - from) * Math.min(width, Math.max(0, event.clientX - left))) / width
}
const offsetOf = (at) => axis.offsetLeft + (axis.offsetWidth * (at - from)) / (to - from)
const isInside = (event) => event.target.closest("svg.lane, .axis") !== null

let start
picture.addEventListener("pointerdown", (event) => {
  if (event.button !== 0 || !isInside(event)) return
  start = timeAt(event)
  event.preventDefault()
})
addEventListener("pointermove", (event) => {
  const inside = event.target instanceof Element && picture.contains(event.target) && isInside(event)
  cross.style.display = inside ? "block" : "none"
  tip.style.display = inside ? "block" : "none"
  if (start !== undefined) {
    const [first, last] = [start, timeAt(event)].sort((a, b) => a - b)
    choice.style.display = "block"
    choice.style.left = offsetOf(first) + "px"
    choice.style.width = offsetOf(last) - offsetOf(first) + "px"
  }
  if (!inside) return
  cross.style.left = offsetOf(timeAt(event)) + "px"
  const text = event.target.dataset.tip
  tip.textContent = (timeAt(event) / 1000).toFixed(3) + " s" + (text === undefined ? "" : " · " + text)
  const { offsetWidth, offsetHeight } = tip
  tip.style.left = Math.min(event.clientX + 14, innerWidth - offsetWidth - 8) + "px"
  tip.style.top = Math.min(event.clientY + 16, innerHeight - offsetHeight - 8) + "px"
})
addEventListener("pointerup", (event) => {
  if (start === undefined) return
  const [first, last] = [start, timeAt(event)].sort((a, b) => a - b)
  start = undefined
  choice.style.display = "none"
  if (last - first > (to - from) / 200) show(first, last)
})
picture.addEventListener("dblclick", () => show(0, end))
picture.addEventListener("wheel", (event) => {
  if (!(event.ctrlKey || event.metaKey) || !isInside(event)) return
  event.preventDefault()
  zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event))
}, { passive: false })
const act = {
  in: () => zoom(0.5),
  out: () => zoom(2),
  left: () => show(from - (to - from) / 2, to - (to - from) / 2),
  right: () => show(from + (to - from) / 2, to + (to - from) / 2),
  all: () => show(0, end)
}
for (const button of document.querySelectorAll("button[data-act]")) {
  button.addEventListener("click", () => act[button.dataset.act]())
}
for (const button of document.querySelectorAll("button[data-at]")) {
  button.addEventListener("click", () => {
    show(Number(button.dataset.at) - 1500, Number(button.dataset.at) + 1500)
    picture.scrollIntoView({ behavior: "smooth" })
  })
}
`
