import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { refuses } from "../../support/http/Problems.ts"
import { create, TestService, withService } from "../../support/TestService.ts"

/** What is wrong, and what is sent, by what the problem's message says. */
const invalid: Record<string, ReadonlyArray<readonly [what: string, url: string]>> = {
  "must not be empty": [["no characters", ""]],
  "must start with http:// or https://": [
    ["the scheme ftp", "ftp://example.com/"],
    ["the scheme javascript", "javascript:alert(1)"],
    ["the scheme javascript that looks like http", "javascript://example.com/%0aalert(1)"],
    ["the scheme data", "data:text/html,<script>alert(1)</script>"],
    ["the scheme file", "file:///etc/passwd"],
    ["the scheme blob", "blob:https://example.com/7"],
    ["the scheme view-source", "view-source:https://example.com/"],
    ["no scheme", "example.com/a"],
    ["no scheme but two slashes", "//example.com/a"],
    ["a path alone", "/a"],
    ["no slashes", "https:example.com"],
    ["one slash", "https:/example.com"],
    ["back slashes", "https:\\\\example.com"],
    ["no host", "https://"],
    ["no host before the path", "https:///a"],
    ["a scheme that only begins with http", "httpx://example.com/"]
  ],
  "user name or password": [
    ["a user name", "https://me@example.com/"],
    ["a user name and a password", "https://me:secret@example.com/"],
    ["a password alone", "https://:secret@example.com/"],
    ["a user name that looks like a host", "https://example.org@example.com/"],
    ["an encoded user name", "https://%40@example.com/"]
  ],
  "white space, control characters or broken Unicode": [
    ["a space before it", " https://example.com/"],
    ["a space after it", "https://example.com/ "],
    ["a space in the path", "https://example.com/a b"],
    ["a space in the host", "https://exa mple.com/"],
    ["a tab, which URL parsers drop", "https://exam\tple.com/"],
    ["a line feed, which URL parsers drop", "https://example.com/\nb"],
    ["a header injection", "https://example.com/\r\nSet-Cookie: a=b"],
    ["a header injection by a second response", "https://example.com/\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"],
    ["NUL", "https://example.com/\u0000"],
    ["DEL", "https://example.com/\u007f"],
    ["a C1 control character", "https://example.com/\u0085"],
    ["a no-break space", "https://example.com/\u00a0"],
    ["a line separator", "https://example.com/\u2028"],
    ["a byte order mark", "\ufeffhttps://example.com/"],
    ["an ideographic space", "https://example.com/\u3000"],
    ["a lone high surrogate", "https://example.com/\ud800"],
    ["a lone low surrogate", "https://example.com/?q=\udc00a"],
    ["surrogates in the wrong order", "https://example.com/\udc00\ud800"]
  ],
  "is not a valid URL": [
    ["a port above 65,535", "https://example.com:65536/"],
    ["a negative port", "https://example.com:-1/"],
    ["a port of letters", "https://example.com:http/"],
    ["two ports", "https://example.com:80:80/"],
    ["an IPv4 address out of range", "http://256.0.0.1/"],
    ["an IPv4 address of five parts", "http://1.2.3.4.5/"],
    ["an IPv6 address that does not end", "http://[2001:db8::1/"],
    ["an IPv6 address with a zone", "http://[fe80::1%25eth0]/"],
    ["a host with a percent sign", "https://exa%mple.com/"],
    ["a host with an encoded slash", "https://example.com%2f@/"],
    ["a host with an encoded space", "https://exa%20mple.com/"],
    ["a host with angle brackets", "https://<example>.com/"],
    ["a host with a broken Punycode label", "https://xn--a.example.com/"],
    ["a query in the place of a host", "https://?q=a"],
    ["a host of soft hyphens alone", "https://\u00ad/"]
  ],
  port: [["port 0", "https://example.com:0/"]],
  "valid host": [
    ["an empty label", "https://example..com/"],
    ["an empty first label", "https://.example.com/"],
    ["two dots at the end", "https://example.com../"],
    ["a dot alone", "https://./"],
    ["a label that begins with a hyphen", "https://-example.com/"],
    ["a label that ends with a hyphen", "https://example-.com/"],
    ["a label of 64 characters", `https://${"a".repeat(64)}.com/`],
    ["a host of 255 characters", `https://${"abcdefg.".repeat(31)}abcdefg/`],
    ["an asterisk in the host", "https://*.example.com/"],
    ["a quote in the host", "https://exa'mple.com/"],
    ["a comma in the host", "https://example,com/"]
  ],
  "at most 2048 characters$": [
    ["2,049 characters", `https://example.com/${"a".repeat(2_029)}`],
    ["60,000 characters", `https://example.com/${"a".repeat(59_980)}`]
  ],
  "at most 2048 characters when it is percent-encoded": [
    ["2,054 characters once it is encoded", `https://example.com/${"ä".repeat(339)}`],
    ["2,049 characters once its path is added", `https://example.com?${"a".repeat(2_028)}`]
  ]
}

withService("a create is refused as invalid-url for a URL with", {}, (it) => {
  for (const [message, urls] of Object.entries(invalid)) {
    for (const [what, url] of urls) {
      it.effect(what, () => refuses(create({ url }), "invalid-url", ["url", new RegExp(message)]))
    }
  }
})

/** Spellings of this machine, to be followed by the service's own port. */
const loopback: ReadonlyArray<readonly [what: string, url: (port: number) => string]> = [
  ["localhost", (port) => `http://localhost:${port}/abc`],
  ["localhost by https", (port) => `https://localhost:${port}/abc`],
  ["localhost in upper case", (port) => `http://LOCALHOST:${port}/`],
  ["localhost with a dot at its end", (port) => `http://localhost.:${port}/`],
  ["localhost in full-width letters", (port) => `http://ｌｏｃａｌｈｏｓｔ:${port}/`],
  ["localhost percent-encoded", (port) => `http://%6c%6fcalhost:${port}/`],
  ["localhost after empty user information", (port) => `http://@localhost:${port}/`],
  ["localhost after an empty user name and password", (port) => `http://:@localhost:${port}/`],
  ["localhost with leading zeros in its port", (port) => `http://localhost:0${port}/`],
  ["localhost with a back slash after it", (port) => `http://localhost:${port}\\@example.com/`],
  ["a name under localhost", (port) => `http://a.localhost:${port}/`],
  ["127.0.0.1", (port) => `http://127.0.0.1:${port}/abc`],
  ["127.0.0.1 with a dot at its end", (port) => `http://127.0.0.1.:${port}/`],
  ["127.1", (port) => `http://127.1:${port}/`],
  ["127.0.0.1 as one number", (port) => `http://2130706433:${port}/`],
  ["127.0.0.1 in hexadecimal", (port) => `http://0x7f.0.0.1:${port}/`],
  ["127.0.0.1 in octal", (port) => `http://0177.0.0.1:${port}/`],
  ["another loopback address", (port) => `http://127.9.8.7:${port}/`],
  ["0.0.0.0", (port) => `http://0.0.0.0:${port}/`],
  ["0", (port) => `http://0:${port}/`],
  ["[::1]", (port) => `http://[::1]:${port}/abc`],
  ["[::1] written out", (port) => `http://[0:0:0:0:0:0:0:1]:${port}/`],
  ["[::]", (port) => `http://[::]:${port}/`],
  ["127.0.0.1 mapped to IPv6", (port) => `http://[::ffff:127.0.0.1]:${port}/`],
  ["127.1.2.3 mapped to IPv6", (port) => `http://[::ffff:7f01:203]:${port}/`],
  ["0.0.0.0 mapped to IPv6", (port) => `http://[::ffff:0:0]:${port}/`]
]

withService("a create is refused as blocked-target when it leads back by", {}, (it) => {
  for (const [what, url] of loopback) {
    it.effect(what, () =>
      Effect.flatMap(TestService, ({ port }) =>
        refuses(create({ url: url(port) }), "blocked-target", ["url", "leads to this service itself"])
      )
    )
  }
})

withService("behind the public name https://sho.rt", { baseUrl: new URL("https://sho.rt") }, (it) => {
  const blocked: ReadonlyArray<readonly [what: string, url: (port: number) => string]> = [
    ["that name", () => "https://sho.rt/abc"],
    ["that name in mixed case", () => "https://Sho.RT/abc"],
    ["that name with a dot at its end", () => "https://sho.rt./"],
    ["that name with the default port", () => "https://sho.rt:443/"],
    ["that name by http", () => "http://sho.rt/"],
    ["that name by http on the port of https", () => "http://sho.rt:443/"],
    ["that name in full-width letters", () => "https://ｓｈｏ．ｒｔ/"],
    ["that name after empty user information", () => "https://@sho.rt/"],
    ["that name on the port that the service listens at", (port) => `http://sho.rt:${port}/`],
    ["127.0.0.1 on the port that the service listens at", (port) => `http://127.0.0.1:${port}/`]
  ]
  for (const [what, url] of blocked) {
    it.effect(`a create is refused as blocked-target when it leads back by ${what}`, () =>
      Effect.flatMap(TestService, ({ port }) =>
        refuses(create({ url: url(port) }), "blocked-target", ["url", "leads to this service itself"])
      )
    )
  }

  const allowed: ReadonlyArray<readonly [what: string, url: string]> = [
    ["another port of that name", "https://sho.rt:8443/"],
    ["a name under that name", "https://www.sho.rt/"],
    ["a name that ends like that name", "https://not-sho.rt/"],
    ["that name as the user's path", "https://example.com/@sho.rt/"],
    ["that name in the query", "https://example.com/?next=https://sho.rt/abc"],
    ["another port of this machine", "http://localhost:19999/"]
  ]
  for (const [what, url] of allowed) {
    it.effect(`a create to ${what} is let through`, () =>
      Effect.map(create({ url }), ({ status }) => expect(status).toBe(201))
    )
  }
})
