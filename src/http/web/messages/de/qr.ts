import type english from "../en/qr.ts"

export default {
  of: "QR-Code von {text}",
  savePng: "PNG speichern",
  saveSvg: "SVG speichern",
  design: "Farben, Form, Logo",
  colour: "Farbe",
  background: "Hintergrund",
  shape: "Form",
  logo: "Logo",
  square: "Quadrate",
  round: "Abgerundete Quadrate",
  dot: "Punkte",
  noPicture: "Es muss ein Bild von höchstens 512 kB sein: PNG, JPEG oder WebP.",
  unreadable: "Das kann nicht jedes Gerät lesen. Besser eine dunklere Farbe oder ein hellerer Hintergrund."
} satisfies typeof english
