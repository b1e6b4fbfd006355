import { lookup } from "node:dns"
import type { LookupFunction } from "node:net"
import { isPrivateAddress } from "../model/PrivateTarget.ts"

/** The code of the error where a name has only private addresses. */
export const privateOnly = "ENOTPUBLIC"

/**
 * Resolves a name for a connection that is about to be made, to its public addresses only: the connection goes to one of these, whatever an earlier look-up
 * gave. A host that is an address is not looked up.
 */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    if (error !== null) return callback(error, options.all === true ? [] : "", 0)
    const addresses = found.filter(({ address }) => !isPrivateAddress(address))
    const [first] = addresses
    if (first === undefined) {
      const refused = Object.assign(new Error(`${hostname} leads to a private network`), {
        code: privateOnly
      })
      return callback(refused, options.all === true ? [] : "", 0)
    }
    if (options.all === true) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
}
