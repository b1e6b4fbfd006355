import { Context } from "effect"
import { expect, it } from "vitest"
import { LinkReplicaVirtual } from "../../../src/sim/stores/LinkReplicaVirtual.ts"
import { ms_us } from "../../../src/sim/world/Time.ts"
import { VirtualServer } from "../../../src/sim/world/VirtualServer.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { LittleWorld } from "./LittleWorld.ts"

const lag_ms = 500

it("A replica gives rows as they were half a second ago, and fails while it is down", () => {
  const little = new LittleWorld(1)
  const process = little.world.spawn("node-1", 1)
  const links = Context.get(little.database.stores(process), LinkStore)
  const server = new VirtualServer(little.world, little.network, {
    name: "replica",
    faults: () => ({ refused: 0, lost: 0, ignored: 0 }),
    answerMax_ms: 1_000,
    inOrder: false,
    crashPoint: () => {}
  })
  const replica = new LinkReplicaVirtual(little.world, server, little.database, lag_ms * ms_us)
  little.journal.whenAdded = (entry) => replica.follow(entry)
  const read = () => little.run(process, replica.of(process)(["a", "never"]))

  little.run(process, links.insertMany([linkOf("a")]))
  expect(read()).toEqual([null, null])
  little.pass(lag_ms)
  expect(read()).toEqual([linkOf("a"), null])

  little.run(process, links.deleteMany([{ key: "a", at: 2 }]))
  expect(read()).toEqual([linkOf("a"), null])
  little.pass(lag_ms)
  expect(read()).toMatchObject([{ key: "a", deletedAt: expect.any(Number) }, null])

  server.stop(10_000 * ms_us)
  expect(little.exit(process, replica.of(process)(["a"]))).toMatchObject({ _tag: "Failure" })
})
