// One connection to an SQLite file, in a thread of its own: carries out one order after the other, and answers each. The build puts it into one file with
// what it imports (`bundle.mjs`).

import { type MessagePort, parentPort, workerData } from "node:worker_threads"
import * as SqliteOrders from "./SqliteOrders.ts"
import type { Opening, Order } from "./SqliteThread.ts"

const port = parentPort as MessagePort
const { answer, close } = SqliteOrders.make(workerData as Opening)

port.on("message", (order: Order | null) => {
  if (order !== null) return port.postMessage(answer(order))
  close()
  port.close()
})
