export default {
  title: "Users",
  made: "Made {day}",
  neverSignedIn: "Has never signed in",
  signedIn: "Signed in {moment}",
  administrator: "administrator",
  isDisabled: "disabled",
  log: "Log",
  logOf: "Audit log of {email}",
  makeAdmin: "Make admin",
  makeAdminOf: "Make admin: {email}",
  unmakeAdmin: "Unmake admin",
  unmakeAdminOf: "Unmake admin: {email}",
  enable: "Enable",
  enableOf: "Enable {email}",
  disable: "Disable",
  disableOf: "Disable {email}",
  delete: "Delete",
  deleteOf: "Delete {email}",
  disabling: {
    title: "Disable this account?",
    text: "{email} is signed out and cannot sign in, API keys and webhooks work no more. Links go on redirecting. It can be enabled again.",
    button: "Disable",
    said: "{email} is disabled."
  },
  promoting: {
    title: "Make an administrator?",
    text: "{email} will see and change everything of everybody.",
    button: "Make an administrator",
    said: "{email} is an administrator."
  },
  enabling: {
    title: "Enable this account?",
    text: "{email} can sign in again, and API keys work.",
    button: "Enable",
    said: "{email} is enabled."
  },
  demoting: {
    title: "Unmake an administrator?",
    text: "{email} will see and change nothing but what is theirs.",
    button: "Unmake an administrator",
    said: "{email} is no administrator."
  },
  deletion: {
    title: "Delete this account?",
    text: "{email} is gone for good, with API keys and webhooks. Links go on redirecting unless they are deleted, too, and are the administrators’ alone. This cannot be undone.",
    button: "Delete",
    said: "{email} is deleted."
  },
  confirm: "You signed in a while ago. It is asked for again before this is done.",
  deletesLinks: "Delete all links of this user, too",
  leaveIt: "Leave it"
}
