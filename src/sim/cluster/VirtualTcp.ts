import type { Chance } from "../world/Chance.ts"
import type { Network } from "../world/Network.ts"
import { ms_us, s_us } from "../world/Time.ts"
import { VirtualProcess } from "../world/VirtualProcess.ts"
import type { World } from "../world/World.ts"

/** What has connections: a process, or a server that needs none. `name` is its machine's. */
export interface Host {
  readonly name: string
  readonly isAlive: boolean
  readonly post: (task: () => void) => void
}

/** How a connection ended, as one side sees it: the other one closed it when it had said everything, or it broke. */
export type Ending = "closed" | "reset"

/** What becomes of what arrives. */
export interface Reader<Message> {
  readonly onMessage: (message: Message) => void
  /** Nothing comes after it. */
  readonly onEnd: (ending: Ending) => void
}

type Arrival<Message> = (reader: Reader<Message>) => void

/** How soon something is sent again that did not get through: this long at first, twice as long each time, up to a bound. */
const resendFirst_us = 200 * ms_us
const resendLast_us = 10 * s_us

/** The same for the first packet of a connection. */
const reconnectFirst_us = s_us

/** What is sent right behind something else comes this much later at most. */
const followsWithin_us = 200

/** One end of a connection: messages arrive at the other one in their order, as long as both live, however long that takes. */
export class End<Message> {
  readonly host: Host
  /** Set once, when the connection is made. */
  peer!: End<Message>
  readonly #world: World
  readonly #network: Network
  readonly #chance: Chance
  readonly #forget: (end: End<Message>) => void
  readonly #inbox: Array<Arrival<Message>> = []
  #outbox: Array<Arrival<Message> | "last"> = []
  #reader: Reader<Message> | undefined
  #isSending = false
  #isOpen = true
  #isBroken = false
  #hears = true

  constructor(
    world: World,
    network: Network,
    chance: Chance,
    host: Host,
    forget: (end: End<Message>) => void
  ) {
    this.#world = world
    this.#network = network
    this.#chance = chance
    this.host = host
    this.#forget = forget
  }

  /**
   * Sends a message; `false` when the connection was closed on this side, or its reader has been told of its end. That it was sent does not mean
   * that it arrives.
   */
  send(message: Message): boolean {
    if (!this.#isOpen) return false
    if (!this.#isBroken) this.#push((reader) => reader.onMessage(message))
    return true
  }

  /** Ends the connection when everything that was sent has arrived; nothing is heard from now on. */
  close() {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#hears = false
    this.#forget(this)
    if (!this.#isBroken) this.#push("last")
  }

  /** Ends the connection at once. What is under way is lost, and the other side hears of it unless the way is cut. */
  reset() {
    this.#isOpen = false
    this.#breakOff()
    this.#world.after(this.#network.latency_us(), null, () => {
      if (!this.#network.isCut(this.host.name, this.peer.host.name)) this.peer.break()
    })
  }

  /** The connection broke, as this side sees it. */
  break() {
    this.#arrive((reader) => {
      this.#isOpen = false
      reader.onEnd("reset")
    })
    this.#breakOff()
  }

  /** What the operating system does with the connection of a process that it ended: often what was sent still arrives. */
  abandon() {
    if (this.#chance.happens(0.5)) this.close()
    else this.reset()
  }

  /** Has a reader told of everything from the beginning on, each in a task of its host. */
  read(reader: Reader<Message>) {
    this.#reader = reader
    for (const _ of this.#inbox) this.#wake()
  }

  /** Tells nobody any more. */
  stopReading() {
    this.#reader = undefined
  }

  #breakOff() {
    this.#isBroken = true
    this.#hears = false
    this.#outbox = []
    this.#forget(this)
  }

  #push(item: Arrival<Message> | "last") {
    this.#outbox.push(item)
    if (this.#isSending) return
    this.#isSending = true
    this.#sendIn(this.#network.latency_us(), resendFirst_us)
  }

  #sendIn(delay_us: number, again_us: number) {
    this.#world.after(delay_us, null, () => {
      const item = this.#outbox[0]
      if (item === undefined) {
        this.#isSending = false
        return
      }
      const { peer } = this
      if (this.#network.isCut(this.host.name, peer.host.name))
        return this.#sendIn(again_us, Math.min(2 * again_us, resendLast_us))
      this.#outbox.shift()
      if (peer.#hears) {
        if (item === "last") peer.#end()
        else peer.#arrive(item)
      } else if (item !== "last" && peer.#outbox.length === 0) peer.reset()
      if (this.#outbox.length > 0) this.#sendIn(1 + this.#chance.below(followsWithin_us), resendFirst_us)
      else this.#isSending = false
    })
  }

  #end() {
    this.#arrive((reader) => {
      this.close()
      reader.onEnd("closed")
    })
  }

  #arrive(arrival: Arrival<Message>) {
    if (!this.#hears) return
    this.#inbox.push(arrival)
    if (this.#reader !== undefined) this.#wake()
  }

  /** A process takes its ready tasks in any order, but what came over a connection in its own. */
  #wake() {
    this.host.post(() => {
      const reader = this.#reader
      if (reader !== undefined) this.#inbox.shift()?.(reader)
    })
  }
}

interface Listener<Message> {
  readonly host: Host
  readonly accept: (end: End<Message>) => void
}

/**
 * Connections between hosts over a network, as TCP keeps them: in order, sent again while a way is cut, refused when nobody listens,
 * broken when a process is killed, and silent while it is paused, when they are still accepted.
 */
export class VirtualTcp<Message> {
  readonly #world: World
  readonly #network: Network
  readonly #chance: Chance
  readonly #listeners = new Map<string, Listener<Message>>()
  readonly #ends = new Map<Host, Set<End<Message>>>()

  constructor(world: World, network: Network) {
    this.#world = world
    this.#network = network
    this.#chance = world.chance("connections")
  }

  /** Accepts connections at a port of the host's machine until the function that it gives is called. */
  listen(host: Host, port: number, accept: (end: End<Message>) => void): () => void {
    const address = `${host.name}:${port}`
    const listener = { host, accept }
    this.#endsOf(host)
    this.#listeners.set(address, listener)
    return () => {
      if (this.#listeners.get(address) === listener) this.#listeners.delete(address)
    }
  }

  /**
   * Connects to a port of a machine. Tells in a task of `host`, at most once: nobody answers where the way is cut. What it gives
   * gives up.
   */
  connect(
    host: Host,
    machine: string,
    port: number,
    tell: (result: End<Message> | "refused") => void
  ): () => void {
    let isWanted = true
    const answer = (result: End<Message> | "refused") =>
      this.#world.after(this.#network.latency_us(), null, () =>
        host.post(() => {
          if (isWanted) tell(result)
          else if (result !== "refused") result.close()
        })
      )
    const attempt = (delay_us: number, again_us: number) => {
      this.#world.after(delay_us, null, () => {
        if (!isWanted || !host.isAlive) return
        const isCut = this.#network.isCut(host.name, machine) || this.#network.isCut(machine, host.name)
        if (isCut) return attempt(again_us, 2 * again_us)
        const listener = this.#listeners.get(`${machine}:${port}`)
        if (listener === undefined || !listener.host.isAlive) return answer("refused")
        const [ours, theirs] = this.#join(host, listener.host)
        listener.host.post(() => listener.accept(theirs))
        answer(ours)
      })
    }
    attempt(this.#network.latency_us(), reconnectFirst_us)
    return () => {
      isWanted = false
    }
  }

  #join(from: Host, to: Host): readonly [End<Message>, End<Message>] {
    const [ours, theirs] = [this.#end(from), this.#end(to)]
    ours.peer = theirs
    theirs.peer = ours
    return [ours, theirs]
  }

  #end(host: Host): End<Message> {
    const ends = this.#endsOf(host)
    const end = new End<Message>(this.#world, this.#network, this.#chance, host, (end) => ends.delete(end))
    ends.add(end)
    return end
  }

  #endsOf(host: Host): Set<End<Message>> {
    const known = this.#ends.get(host)
    if (known !== undefined) return known
    const ends = new Set<End<Message>>()
    this.#ends.set(host, ends)
    if (host instanceof VirtualProcess) host.whenDead(() => this.#die(host, ends))
    return ends
  }

  #die(host: Host, ends: Set<End<Message>>) {
    this.#ends.delete(host)
    for (const [address, listener] of this.#listeners)
      if (listener.host === host) this.#listeners.delete(address)
    for (const end of Array.from(ends)) end.abandon()
  }
}
