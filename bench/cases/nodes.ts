import { Effect } from "effect"
import { join } from "node:path"
import * as Cluster from "../../cluster/Cluster.ts"
import * as Haproxy from "../../cluster/Haproxy.ts"
import { atMost, type Case } from "../Case.ts"
import * as EventLoop from "../EventLoop.ts"
import { type Ground, makeUser } from "../Ground.ts"
import { startReference } from "../references/start.ts"
import * as Rounds from "../Rounds.ts"
import { freePort } from "../../test/support/FreePort.ts"
import { Unavailable } from "../../test/support/services/Service.ts"

const connections = 32

const createLink = (port: number, apiKey: string) =>
  Effect.tryPromise({
    try: async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/links`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": apiKey },
        body: JSON.stringify({ url: "https://www.example.com/articles/of/a/usual/length/1" })
      })
      if (answer.status !== 201) throw new Error(`a create is answered ${answer.status}`)
      return ((await answer.json()) as { readonly key: string }).key
    },
    catch: (error) => new Unavailable({ reason: String(error) })
  })

const portOf = ({ url }: { readonly url: string }) => Number(new URL(url).port)

/** As many bare servers as there are nodes, behind the same load balancer. */
const startBare = Effect.fn("nodes.startBare")(function* (ground: Ground, count: number) {
  const servers = yield* Effect.replicateEffect(startReference(ground, "fixed302"), count)
  const port = yield* freePort
  yield* Haproxy.start({
    program: yield* Haproxy.haveProgram,
    folder: join(ground.folder, `haproxy-${port}`),
    port,
    nodes: servers.map((server, index) => ({
      name: `bare-${index + 1}`,
      address: `127.0.0.1:${server.port}`
    }))
  })
  return { port, pids: servers.map(({ pid }) => pid) }
})

/** Three nodes and HAProxy on one machine: what a redirect costs then. */
export const nodes: Case = {
  name: "nodes",
  title: "Redirect, three nodes behind the load balancer of `npm run cluster`",
  run: Effect.fn("nodes")(function* (ground) {
    const {
      loadBalancer,
      nodes: members,
      adminKey
    } = yield* Cluster.start({
      nodes: 3,
      httpNodes: 0,
      pools: 1,
      dir: null,
      port: 0,
      sentinel: false,
      standby: null,
      restart: false,
      json: false,
      notify: ground.notify,
      variables: EventLoop.watched(ground)
    })
    const [single] = members
    const { apiKey } = yield* makeUser(portOf(single!), adminKey)
    const path = `/${yield* createLink(portOf(single!), apiKey)}`
    const bare = yield* startBare(ground, members.length)
    const unit = "redirects/s"
    const contender = (subject: string, port: number, pids: ReadonlyArray<number>): Rounds.Contender => ({
      subject,
      unit,
      pids,
      usesPostgres: false,
      run: (seconds) => ground.load.send({ port, connections, seconds, path })
    })
    const rows = yield* Rounds.measure(
      ground,
      [
        contender("three bare node:http behind HAProxy", bare.port, bare.pids),
        contender(
          "three nodes behind HAProxy",
          portOf(loadBalancer),
          members.map(({ pid }) => pid)
        )
      ],
      ground.quick ? Rounds.planOf(ground) : { rounds: 3, seconds: 4, warmUp_s: 3 }
    )
    const rise = rows[1]!.cpu_us! / rows[0]!.cpu_us!
    return {
      rows,
      goals: [
        atMost("CPU time of the nodes for a redirect, of the bare servers':", 1, "", rise, rows[1]!.errors)
      ],
      notes: [
        `${connections} connections, one hot link. CPU time is that of nodes and bare servers, not of HAProxy, which asks both for their health. Servers, HAProxy and the load share the machine's cores, so that three nodes are not faster here.`
      ]
    }
  })
}
