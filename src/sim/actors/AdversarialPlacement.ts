import { Sharding, ShardId, Snowflake } from "@effect/cluster"
import type { Entity } from "@effect/cluster"
import type { Rpc } from "@effect/rpc"
import { Context, Effect, Exit, Fiber, Layer, Stream } from "effect"
import { actorEndMax } from "../../node/ClusterRunner.ts"
import type { ShardOwnershipService } from "../../storage/keys/ShardOwnership.ts"
import type { Journal } from "../Journal.ts"
import type { FaultOptions } from "../cli/Options.ts"
import type { Placement } from "../deployment/Placement.ts"
import type { Chance } from "../world/Chance.ts"
import type { Network } from "../world/Network.ts"
import { ms_us, s_us } from "../world/Time.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import type { Begins, CrashPoint } from "../world/VirtualServer.ts"
import type { World } from "../world/World.ts"
import { ActorHost, type ActorId, nameOf, type Outcome } from "./ActorHost.ts"
import type { KeyTrail } from "./KeyTrail.ts"

/** How long a message to an actor that has no owner waits before it looks for one again. */
const lookAgainAfter_us = 50 * ms_us

/** How long the others take at most to notice that a killed process's actors have no owner. */
const noticeMax_us = 1.5 * s_us

/** How long a silent process keeps its actors, and how long it goes on at most, when it is back, before it notices that it lost them. */
const leaseOf_us = 6 * s_us
const noticeLossMax_us = 1.7 * s_us

/** What a sender is told whose connection broke, as the cluster says it. */
const reset: Outcome = Exit.die({ _tag: "RpcClientError", message: "the connection was reset" })

/** Who owns an actor; and, for a while, who did before and does not know better. */
interface Ownership {
  readonly actor: ActorId
  owner: ActorHost | undefined
  /** From when on messages find the owner. */
  ready_us: number
  former: ActorHost | undefined
  formerUntil_us: number
}

/** What the adversary needs to know of the run. */
export interface AdversaryOptions {
  readonly world: World
  readonly network: Network
  readonly journal: Journal
  readonly messages: () => FaultOptions["messages"]
  readonly crashPoint: CrashPoint
  readonly begins?: Begins
  readonly trail: KeyTrail
}

/** A message under way, and what its sender waits for. */
interface Message {
  readonly sender: ActorHost
  readonly actor: ActorId
  readonly tag: string
  readonly payload: unknown
  /** Notes that its sender does not learn what came of it, or that it came twice. */
  readonly lost: (interrupted_us?: number) => void
  isOver: boolean
  readonly finish: (outcome: Outcome) => void
  interrupt: () => void
}

/**
 * Placement as an adversary plays it: actors live anywhere, move for no reason, and for a while two processes own the same one and both get its
 * messages. A message can be lost, come late, come twice, or have its answer lost. Singletons run in every process at once.
 */
export class AdversarialPlacement implements Placement {
  readonly #options: AdversaryOptions
  readonly #chance: Chance
  readonly #hosts = new Map<VirtualProcess, ActorHost>()
  readonly #owned = new Map<string, Ownership>()

  constructor(options: AdversaryOptions) {
    this.#options = options
    this.#chance = options.world.chance("placement")
  }

  layer(process: VirtualProcess): Layer.Layer<Sharding.Sharding> {
    return Layer.scoped(
      Sharding.Sharding,
      Effect.acquireRelease(
        Effect.sync(() => {
          const host = new ActorHost(process, this.#options.journal)
          this.#hosts.set(process, host)
          return this.#sharding(host)
        }),
        () => this.#leave(process)
      )
    )
  }

  ownership(process: VirtualProcess): ShardOwnershipService {
    return {
      holds: (shard) =>
        Effect.sync(() => {
          for (const { actor, owner } of this.#owned.values()) {
            if (actor.number === shard) return owner?.process === process
          }
          return false
        })
    }
  }

  died(process: VirtualProcess) {
    const { now_us } = this.#options.world
    this.#hosts.delete(process)
    for (const owned of this.#owned.values()) {
      if (owned.former?.process === process) owned.former = undefined
      if (owned.owner?.process === process) {
        owned.owner = undefined
        owned.ready_us = now_us + this.#chance.below(noticeMax_us)
      }
    }
  }

  paused(process: VirtualProcess, for_us: number) {
    if (for_us < leaseOf_us) return
    const { world } = this.#options
    world.after(leaseOf_us + this.#chance.below(s_us), null, () => {
      const stale_us = for_us - leaseOf_us + this.#chance.below(noticeLossMax_us)
      for (const owned of this.#owned.values()) {
        if (owned.owner?.process === process) this.#moveTo(owned, this.#anyHost(owned.owner), stale_us)
      }
    })
  }

  move(overlap_us: number) {
    const all = Array.from(this.#owned.values()).filter(({ owner }) => owner !== undefined)
    if (all.length === 0) return
    // One actor, or many at once.
    const count = this.#chance.happens(0.5) ? 1 : this.#chance.below(all.length) + 1
    for (let moved = 0; moved < count; moved++) {
      const owned = this.#chance.pick(all)
      this.#moveTo(owned, this.#anyHost(owned.owner), overlap_us)
    }
  }

  #moveTo(owned: Ownership, next: ActorHost | undefined, overlap_us: number) {
    const { world } = this.#options
    const former = owned.owner
    if (former === undefined || next === former) return
    if (owned.former !== undefined && owned.former !== next) owned.former.stop(owned.actor)
    owned.former = former
    owned.formerUntil_us = world.now_us + overlap_us
    owned.owner = next
    world.tell(
      next?.process.id ?? "nobody",
      "owns",
      `${nameOf(owned.actor)}, as ${former.process.id} believes to`
    )
    world.after(overlap_us, former.process, () =>
      former.process.post(() => {
        if (owned.former !== former) return
        owned.former = undefined
        if (owned.owner !== former) former.stop(owned.actor)
      })
    )
  }

  /** An orderly end: others own the actors at once, while the last requests are still answered. Actors that stop are waited for, as the cluster does. */
  #leave(process: VirtualProcess): Effect.Effect<void> {
    return Effect.suspend(() => {
      const host = this.#hosts.get(process)
      this.#hosts.delete(process)
      for (const owned of this.#owned.values()) {
        if (owned.former === host) owned.former = undefined
        if (owned.owner === host) owned.owner = undefined
      }
      const stopping = host?.actors.flatMap((actor) => host.stop(actor)) ?? []
      return Effect.asVoid(Effect.timeoutOption(Fiber.awaitAll(stopping), actorEndMax))
    })
  }

  #anyHost(except?: ActorHost): ActorHost | undefined {
    const able = Array.from(this.#hosts.values()).filter(
      (host) => host !== except && host.process.isAlive && !host.process.isPaused
    )
    return able.length === 0 ? undefined : this.#chance.pick(able)
  }

  #ownershipOf(type: string, id: string): Ownership {
    const name = `${type}/${id}`
    const present = this.#owned.get(name)
    if (present !== undefined) return present
    const actor = { type, id, number: this.#owned.size + 1 }
    const owned: Ownership = { actor, owner: undefined, ready_us: 0, former: undefined, formerUntil_us: 0 }
    this.#owned.set(name, owned)
    return owned
  }

  /** Where a message goes now, if anywhere: to the owner, or to who was it, as the sender believes. */
  #target(owned: Ownership): ActorHost | undefined {
    const { now_us } = this.#options.world
    if (owned.former !== undefined && now_us < owned.formerUntil_us && this.#chance.happens(0.5))
      return owned.former
    if (now_us < owned.ready_us) return undefined
    owned.owner ??= this.#anyHost()
    return owned.owner?.knows(owned.actor.type) === true ? owned.owner : undefined
  }

  #send(message: Message) {
    const { crashPoint, messages, network, world } = this.#options
    const { sender } = message
    const owned = this.#ownershipOf(message.actor.type, message.actor.id)
    const attempt = () => {
      if (message.isOver || !sender.process.isAlive) return
      const target = this.#target(owned)
      if (target === undefined) return void world.after(lookAgainAfter_us, sender.process, attempt)
      if (target === sender) return this.#deliver(message, target, attempt)
      crashPoint(sender.process, `send ${message.tag}`)
      const { delay_ms, delayed, dropped, repeated } = messages()
      if (this.#chance.happens(dropped)) return this.#lose(message)
      const times = this.#chance.happens(repeated) ? 2 : 1
      if (times > 1) message.lost()
      for (let time = 0; time < times; time++) {
        const held_us = this.#chance.happens(delayed) ? this.#chance.below(delay_ms * ms_us) : 0
        world.after(held_us, null, () =>
          network.deliver(sender.process.name, target.process.name, () =>
            this.#deliver(message, target, attempt)
          )
        )
      }
    }
    attempt()
  }

  /** A message or its answer is lost; its sender may hear that the connection broke. */
  #lose(message: Message) {
    const { messages, world } = this.#options
    message.lost()
    if (world.chance("broken messages").happens(messages().broken ?? 0)) message.finish(reset)
  }

  #deliver(message: Message, target: ActorHost, again: () => void) {
    const { journal, messages, network, world } = this.#options
    const { sender } = message
    const isRemote = target !== sender
    if (!target.process.isAlive) return void world.after(lookAgainAfter_us, sender.process, again)
    target.process.post(() => {
      // The connection breaks with the process: the cluster sends the message again, or says that it cannot know.
      const forget = target.process.whenDead(() => {
        if (!isRemote || message.isOver) return
        message.lost()
        if (this.#chance.happens(0.5)) world.after(lookAgainAfter_us, sender.process, again)
        else message.finish(reset)
      })
      const begun_us = world.now_us
      message.interrupt = target.receive(message.actor, message.tag, message.payload, (outcome) => {
        if (message.tag === "Mint") {
          const [by, range] = [target.process.id, Number(message.actor.id)]
          const isRefused = Exit.isFailure(outcome) && !Exit.isInterrupted(outcome)
          journal.add({ tag: "mint answered", by, range, begun_us, isRefused })
        }
        if (isRemote) this.#options.crashPoint(target.process, `answer ${message.tag}`)
        forget()
        if (!target.process.isAlive) return
        if (!isRemote) return message.finish(outcome)
        if (this.#chance.happens(messages().dropped)) return this.#lose(message)
        network.deliver(target.process.name, sender.process.name, () => message.finish(outcome))
      })
    })
  }

  #call(sender: ActorHost, actor: ActorId, tag: string, payload: unknown): Effect.Effect<unknown, unknown> {
    return Effect.async<unknown, unknown>((resume) => {
      const { begins, journal, trail, world } = this.#options
      const end = begins?.(sender.process.id, `send ${tag}`)
      const sent_us = world.now_us
      const message: Message = {
        lost: (interrupted_us) => {
          journal.unanswered(sender.process, `send ${tag}`, interrupted_us)
          trail.lost(sender.process, tag, payload, interrupted_us)
        },
        sender,
        actor,
        tag,
        payload,
        isOver: false,
        interrupt: () => {},
        finish: (outcome) =>
          sender.process.post(() => {
            if (message.isOver) return
            message.isOver = true
            forget()
            end?.()
            trail.message(sender.process, tag, payload, outcome, world.now_us - sent_us)
            resume(outcome)
          })
      }
      // The death of its asker loses a lease, and may lose what it gives back. A process can wait for several, if shards are late.
      const hasKeys = tag === "Lease" || tag === "Return"
      const forget = hasKeys ? sender.process.whenDead(() => message.lost()) : () => {}
      this.#send(message)
      return Effect.sync(() => {
        forget()
        if (!message.isOver) {
          message.lost(world.now_us - sent_us)
          trail.message(sender.process, tag, payload, undefined, world.now_us - sent_us)
        }
        message.isOver = true
        end?.()
        message.interrupt()
      })
    })
  }

  #sharding(host: ActorHost): Sharding.Sharding["Type"] {
    const notSimulated = (what: string) => Effect.dieMessage(`${what} is not simulated at this level`)
    const makeClient = (entity: Entity.Entity<string, Rpc.Any>) =>
      Effect.succeed((id: string) => {
        const { actor } = this.#ownershipOf(entity.type, id)
        const call = (tag: string) => (payload?: unknown) => this.#call(host, actor, tag, payload)
        return Object.fromEntries(Array.from(entity.protocol.requests.keys(), (tag) => [tag, call(tag)]))
      })
    const registerEntity: Sharding.Sharding["Type"]["registerEntity"] = (entity, handlers, options) =>
      Effect.contextWith((context) => {
        if (options?.concurrency !== "unbounded") throw new Error(`${entity.type} is not open to all at once`)
        host.register({
          entity: entity as unknown as Entity.Entity<string, Rpc.Any>,
          build: entity.protocol.toHandlersContext(handlers) as unknown as Effect.Effect<
            Context.Context<never>
          >,
          context: context as unknown as Context.Context<never>,
          mailboxCapacity: typeof options.mailboxCapacity === "number" ? options.mailboxCapacity : 4_096
        })
      })
    return {
      getRegistrationEvents: Stream.empty,
      getShardId: (id, group) => ShardId.make(group, id.length),
      hasShardId: () => true,
      getSnowflake: Effect.succeed(Snowflake.Snowflake(1n)),
      isShutdown: Effect.sync(() => !this.#hosts.has(host.process)),
      makeClient: makeClient as unknown as Sharding.Sharding["Type"]["makeClient"],
      registerEntity,
      registerSingleton: (_, run) => Effect.asVoid(Effect.forkScoped(run)),
      send: () => notSimulated("send"),
      sendOutgoing: () => notSimulated("sendOutgoing"),
      notify: () => notSimulated("notify"),
      reset: () => notSimulated("reset"),
      pollStorage: Effect.void,
      activeEntityCount: Effect.sync(() => host.actors.length)
    }
  }
}
