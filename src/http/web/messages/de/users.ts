import type english from "../en/users.ts"

export default {
  title: "Benutzer",
  made: "Angelegt {day}",
  neverSignedIn: "Noch nie angemeldet",
  signedIn: "Angemeldet {moment}",
  administrator: "Administrator",
  isDisabled: "gesperrt",
  log: "Protokoll",
  logOf: "Protokoll von {email}",
  makeAdmin: "Zum Admin machen",
  makeAdminOf: "Zum Admin machen: {email}",
  unmakeAdmin: "Nicht mehr Admin",
  unmakeAdminOf: "Nicht mehr Admin: {email}",
  enable: "Entsperren",
  enableOf: "{email} entsperren",
  disable: "Sperren",
  disableOf: "{email} sperren",
  delete: "Löschen",
  deleteOf: "{email} löschen",
  disabling: {
    title: "Dieses Konto sperren?",
    text: "{email} wird abgemeldet und kann sich nicht anmelden, API-Schlüssel und Webhooks gehen nicht mehr. Links leiten weiter. Das Konto lässt sich wieder entsperren.",
    button: "Sperren",
    said: "{email} ist gesperrt."
  },
  promoting: {
    title: "Zum Administrator machen?",
    text: "{email} wird alles von allen sehen und ändern können.",
    button: "Zum Administrator machen",
    said: "{email} ist Administrator."
  },
  enabling: {
    title: "Dieses Konto entsperren?",
    text: "{email} kann sich wieder anmelden, und API-Schlüssel gehen wieder.",
    button: "Entsperren",
    said: "{email} ist entsperrt."
  },
  demoting: {
    title: "Nicht mehr Administrator?",
    text: "{email} wird nur noch Eigenes sehen und ändern können.",
    button: "Nicht mehr Administrator",
    said: "{email} ist nicht mehr Administrator."
  },
  deletion: {
    title: "Dieses Konto löschen?",
    text: "{email} wird endgültig gelöscht, mit API-Schlüsseln und Webhooks. Links leiten weiter, solange sie nicht mitgelöscht werden, und gehören dann allein den Administratoren. Das lässt sich nicht rückgängig machen.",
    button: "Löschen",
    said: "{email} ist gelöscht."
  },
  confirm: "Die Anmeldung ist eine Weile her. Davor wird noch einmal danach gefragt.",
  deletesLinks: "Auch alle Links dieses Benutzers löschen",
  leaveIt: "Abbrechen"
} satisfies typeof english
