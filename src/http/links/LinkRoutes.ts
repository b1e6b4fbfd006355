import { Effect, Either } from "effect"
import { Links } from "../../actors/links/Links.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import { Domains } from "../domains/Domains.ts"
import { ofJson } from "../exchange/Answer.ts"
import * as Caller from "../exchange/Caller.ts"
import * as BulkEdit from "./BulkEdit.ts"
import { orProblem, textOf } from "./LinkAnswers.ts"
import * as LinkCreation from "./LinkCreation.ts"
import * as LinkEditing from "./LinkEditing.ts"
import * as LinkManagement from "./LinkManagement.ts"
import type { LinksBody } from "../contract/LinkSchemas.ts"
import * as ListRequest from "./ListRequest.ts"
import type { Request } from "../exchange/Request.ts"
import * as VisitTotals from "./VisitTotals.ts"
import * as Traced from "../../telemetry/Traced.ts"

/** Creates, shows, lists, changes and deletes links. */
export const make = (options: Parameters<typeof LinkCreation.make>[0]) =>
  Effect.gen(function* () {
    const links = yield* Links
    const creation = yield* LinkCreation.make(options)
    const editing = yield* LinkEditing.make(options)
    const { change, remove, show } = yield* LinkManagement.make(options, editing)
    const identify = yield* Caller.make
    const totals = yield* VisitTotals.make
    const naming = { baseUrl: options.own.baseUrl, domains: yield* Domains }

    const list = Effect.fnUntraced(function* (
      request: Request,
      parameters: typeof ListRequest.ListParameters.Type
    ) {
      const caller = yield* Caller.requireScope(yield* identify(request), "links:read")
      const query = yield* ListRequest.check(parameters, caller, naming.domains)
      const listed = Effect.flatMap(orProblem(links.list(query)), (page) =>
        Effect.map(Effect.either(totals(page.links)), (visits) => ({ page, visits }))
      )
      // Where a database has gone away since its links were listed, a second page is without them.
      const first = yield* listed
      const { page, visits: counted } = Either.isLeft(first.visits) ? yield* listed : first
      const visits = yield* counted
      const data = page.links.map((link, index) => textOf(link, naming, visits[index]!)).join(",")
      const rest: Omit<typeof LinksBody.Type, "data"> = {
        nextCursor: page.next === null ? null : ListRequest.cursorOf(query.order, page.next),
        ...(page.total !== undefined && { total: page.total }),
        ...((page.isPartial === true || visits.some(({ unavailable }) => unavailable)) && { partial: true })
      }
      return ofJson(`{"data":[${data}],${JSON.stringify(rest).slice(1)}`)
    }, Traced.span("links.list"))

    return {
      ...creation,
      get: show,
      editBulk: yield* BulkEdit.make(options, editing),
      list,
      patch: change,
      delete: remove
    } satisfies OperationsOf<"links">
  })
