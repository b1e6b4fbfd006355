// Redis `LPOP` of one key each, pipelined by `ioredis`: 1,000 a round trip.

import { Redis } from "ioredis"

const pipelined = 1_000
const list = "bench:keys"
const redis = new Redis(process.env["REDIS_URL"]!)
const until = performance.now() + Number(process.argv[2]) * 1_000
const keys = Array.from({ length: 10_000 }, (_, index) => String(index).padStart(7, "0"))

let count = 0
let taking_ms = 0
let errors = 0
while (performance.now() < until) {
  await redis.rpush(list, ...keys)
  for (let taken = 0; taken < keys.length; taken += pipelined) {
    const begun = performance.now()
    const pipeline = redis.pipeline()
    for (let index = 0; index < pipelined; index++) pipeline.lpop(list)
    const answers = (await pipeline.exec()) ?? []
    taking_ms += performance.now() - begun
    errors += answers.filter(([error, key]) => error !== null || key === null).length
    count += pipelined
  }
}
await redis.del(list)
redis.disconnect()
const { system, user } = process.cpuUsage()
process.stdout.write(
  `LOAD ${JSON.stringify({ count, seconds: taking_ms / 1_000, p50_ms: null, p99_ms: null, p999_ms: null, errors, cpu_us: system + user })}\n`
)
