export default {
  of: "QR code of {text}",
  savePng: "Save PNG",
  saveSvg: "Save SVG",
  design: "Colours, shape, logo",
  colour: "Colour",
  background: "Background",
  shape: "Shape",
  logo: "Logo",
  square: "Squares",
  round: "Rounded squares",
  dot: "Dots",
  noPicture: "It must be a picture of 512 kB at most: PNG, JPEG or WebP.",
  unreadable: "Some readers will not read this. Make the colour darker, or the background lighter."
}
