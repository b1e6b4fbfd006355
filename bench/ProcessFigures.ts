// What the operating system (Linux) says of processes.

import { readdirSync, readFileSync } from "node:fs"

/** Ticks a second of the times in /proc: USER_HZ, 100 on every Linux that Node runs on. */
const ticksPerSecond = 100

interface Stat {
  readonly parent: number
  readonly cpu_us: number
  /** Of its children that have ended. */
  readonly endedCpu_us: number
}

/** Of a process; undefined when it has ended. */
const statOf = (pid: number): Stat | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The name in brackets may hold spaces and brackets itself.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    const cpuIn_us = (place: number) =>
      ((Number(fields[place]) + Number(fields[place + 1])) / ticksPerSecond) * 1e6
    return { parent: Number(fields[1]), cpu_us: cpuIn_us(11), endedCpu_us: cpuIn_us(13) }
  } catch {
    return undefined
  }
}

/** CPU time that processes have taken so far, in microseconds. */
export const cpuOf_us = (pids: ReadonlyArray<number>): number =>
  pids.reduce((sum, pid) => sum + (statOf(pid)?.cpu_us ?? 0), 0)

/** The same of a process and its children, whether they run or have ended: PostgreSQL with its sessions. */
export const cpuOfFamily_us = (pid: number): number => {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => stat?.parent === pid)
  const { cpu_us, endedCpu_us } = statOf(pid) ?? { cpu_us: 0, endedCpu_us: 0 }
  return children.reduce((sum, child) => sum + child!.cpu_us, cpu_us + endedCpu_us)
}

/** CPU time of the children of this process that have ended, in microseconds. */
export const cpuOfEndedChildren_us = (): number => statOf(process.pid)?.endedCpu_us ?? 0

/** The children of a process that run. */
export const childrenOf = (pid: number): ReadonlyArray<number> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => statOf(child)?.parent === pid)

/** The parent of a process, where there is one. */
export const parentOf = (pid: number): number | undefined => statOf(pid)?.parent

/** Resident memory of processes together, in megabytes. */
export const rssOf_MB = (pids: ReadonlyArray<number>): number =>
  pids.reduce((sum, pid) => {
    try {
      const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
      return sum + Number(kilobytes ?? 0) / 1_024
    } catch {
      return sum
    }
  }, 0)
