/** The text of the visitors' pages in English. A page that is only a message says what happened, and what the visitor can do. */
export default {
  messages: {
    // Also for a link that is not valid yet: a stranger must not learn that it exists.
    "no-link": {
      title: "No such link",
      text: "This short link does not exist, or does not work yet.",
      advice: "Check it letter by letter: capital letters count. Or ask whoever gave it to you."
    },
    "no-page": {
      title: "No such page",
      text: "There is nothing at this address.",
      advice: "Check it letter by letter, or go back to where you came from."
    },
    ended: {
      title: "Link ended",
      text: "This short link has expired, was used up or deleted, or is blocked.",
      advice: "It will not work again by itself. Ask whoever gave it to you for another one."
    },
    "too-many-requests": {
      title: "Too many requests",
      text: "Your network has asked for too many short links that do not exist.",
      advice: "Wait for a minute, then try again."
    },
    "too-many-passwords": {
      title: "Too many tries",
      text: "Too many passwords were tried for this link, or from your network.",
      advice: "Wait for a minute, then try again."
    },
    "owner-limit": {
      title: "Limit reached",
      text: "The owner of this short link has reached their limit of visits for today.",
      advice: "The link works again within a day. Or ask whoever gave it to you where it leads."
    },
    "too-long": {
      title: "Address too long",
      text: "This short link passes on what follows its question mark, and that is too long.",
      advice: "Shorten what follows the question mark, or leave it out."
    },
    "not-understood": {
      title: "Not understood",
      text: "The service could not read what your browser has sent.",
      advice: "Open the link again."
    },
    unavailable: {
      title: "Not available now",
      text: "The service cannot answer at the moment. The link is not the reason.",
      advice: "Wait for a few seconds, then try again."
    },
    broken: {
      title: "Something went wrong",
      text: "This is a fault of the service, and it has been logged.",
      advice: "Wait for a while, then try again."
    }
  },
  /** The page that asks for a link's password. */
  password: {
    title: "Password needed",
    text: "A password guards this short link.",
    wrongTitle: "Wrong password",
    wrong: "That was not the password.",
    label: "Password",
    hint: "Whoever gave you the link knows it.",
    send: "Open the link"
  },
  /** The page that shows where a link leads. */
  preview: {
    title: "Preview",
    text: "This is the short link",
    target: "It leads to",
    host: "The part in bold says whose site it is.",
    varies: "It may lead other visitors elsewhere: by their device, language or country, or by turns.",
    open: "Open the link",
    guarded: "A password guards where it leads.",
    unlock: "Enter the password",
    created: "Created",
    visits: "Visits"
  },
  /** On every page. */
  frame: {
    home: "Go to the home page",
    again: "Try again",
    imprint: "Imprint",
    privacy: "Privacy"
  }
}
