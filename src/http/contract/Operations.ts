import type { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import type { Answer, Answering, Work } from "../exchange/Answer.ts"
import type { Request } from "../exchange/Request.ts"
import type { IdOf } from "../exchange/RequestId.ts"
import type { Api } from "./Api.ts"
import type { Uncontracted } from "./Routes.ts"

/** Answers requests of one operation. The parameters are those of the path and of the query, as in the contract. */
export type Answers<Parameters> = (request: Request, parameters: Parameters) => Work

/** The same for an operation that can usually be answered without a fiber of its own. */
export interface FastOperation<Parameters> {
  /** Answers at once, the request's id and all other headers included; `undefined`, and nothing is done, where it cannot. */
  readonly answerNow?: (request: Request, parameters: Parameters, idOf: IdOf) => Answer<string> | undefined
  /** Answers later by calling back; `false`, and nothing is done, where it cannot. It is asked where `answerNow` could not. */
  readonly answerThen?: (request: Request, parameters: Parameters, answering: Answering) => boolean
  /** Answers what the others could not. */
  readonly answer: Answers<Parameters>
}

/** How an operation is answered. */
export type Operation<Parameters> = Answers<Parameters> | FastOperation<Parameters>

type Groups = (typeof Api)["groups"][string]

type OrNone<A> = [A] extends [never] ? unknown : A

type ParametersOf<Endpoint extends HttpApiEndpoint.HttpApiEndpoint.Any> = OrNone<
  HttpApiEndpoint.HttpApiEndpoint.PathParsed<Endpoint>
> &
  OrNone<HttpApiEndpoint.HttpApiEndpoint.UrlParams<Endpoint>>

/** The operations of one group of the contract, by their names there. */
export type OperationsOf<Group extends HttpApiGroup.HttpApiGroup.Name<Groups>> = {
  readonly [
    Endpoint in HttpApiGroup.HttpApiGroup.EndpointsWithName<
      Groups,
      Group
    > as HttpApiEndpoint.HttpApiEndpoint.Name<Endpoint>
  ]: Operation<ParametersOf<Endpoint>>
}

/** What is served beside the contract. */
export type UncontractedOperations = {
  readonly [Name in keyof Uncontracted]: Operation<{ readonly name: string }>
}

/** All operations of the contract, by their groups. */
export type Operations = {
  readonly [Group in HttpApiGroup.HttpApiGroup.Name<Groups>]: OperationsOf<Group>
}
