import { accessSync, constants, statfsSync } from "node:fs"
import { freemem, tmpdir } from "node:os"

const shared = "/dev/shm"

/** The databases of a run, with their logs, take less than half of that at any time. */
const roomMin_bytes = 3 * 1_024 ** 3

const hasRoom = () => {
  try {
    accessSync(shared, constants.W_OK)
    const { bavail, bsize } = statfsSync(shared)
    return bavail * bsize >= roomMin_bytes && freemem() >= 2 * roomMin_bytes
  } catch {
    return false
  }
}

/**
 * The parent of temporary folders whose files need not outlive the machine: one in memory where there is room, else the usual one. There a
 * sync, which each commit waits for, is done at once.
 */
export const folderInMemory = (): string => (hasRoom() ? shared : tmpdir())
