import { Effect, Layer, Option } from "effect"
import { contains, type Network } from "../../model/Network.ts"
import { type AskingRequest, VisitOptOut } from "../../visits/VisitOptOut.ts"
import { ClientAddress } from "../exchange/ClientAddress.ts"

/** Which visits the operator does not want to be recorded. */
export interface VisitOptOutOptions {
  /** The name of a query parameter that asks for it, with any value. */
  readonly optOutParameter: Option.Option<string>
  /** Addresses of clients, and their networks. */
  readonly optOutNetworks: ReadonlyArray<Network>
  /** Whether `DNT: 1` and `Sec-GPC: 1` ask for it. */
  readonly optOutHeaders: boolean
}

const hasParameter = ({ url }: AskingRequest, name: string): boolean => {
  const at = url.indexOf("?")
  return at !== -1 && new URLSearchParams(url.slice(at + 1)).has(name)
}

const hasHeader = ({ headers }: AskingRequest): boolean =>
  headers["dnt"] === "1" || headers["sec-gpc"] === "1"

/** Leaves out visits that ask for it, and those of some networks. */
export const layer = ({
  optOutHeaders,
  optOutNetworks,
  optOutParameter
}: VisitOptOutOptions): Layer.Layer<never> => {
  const name = Option.getOrUndefined(optOutParameter)
  const isAsked = (request: AskingRequest) =>
    (optOutHeaders && hasHeader(request)) || (name !== undefined && hasParameter(request, name))
  return Layer.effect(
    VisitOptOut,
    Effect.map(ClientAddress, (addresses) => ({
      isAsked: optOutHeaders || name !== undefined ? isAsked : undefined,
      isFromThere:
        optOutNetworks.length === 0
          ? undefined
          : ({ forwardedFor, peer }) => {
              const address = addresses.parsedOf({
                headers: { "x-forwarded-for": forwardedFor },
                remoteAddress: Option.fromNullable(peer)
              })
              return address !== null && contains(optOutNetworks, address)
            }
    }))
  )
}
