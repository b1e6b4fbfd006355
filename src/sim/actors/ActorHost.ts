import {
  ClusterError,
  Entity,
  EntityAddress,
  EntityId,
  EntityType,
  RunnerAddress,
  ShardId
} from "@effect/cluster"
import { Headers } from "@effect/platform"
import type { Rpc } from "@effect/rpc"
import { Context, Effect, Exit, Fiber, Scope } from "effect"
import type { Journal } from "../Journal.ts"
import { fork, forkWith } from "../world/ProcessServices.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"

/** An actor's identity. `number` is unique among all actors of a world; it stands for the actor's shard. */
export interface ActorId {
  readonly type: string
  readonly id: string
  readonly number: number
}

/** How the cluster tells actors of one kind. */
export const nameOf = ({ id, type }: ActorId): string => `${type}/${id}`

/** A kind of actor, as a process has registered it. */
export interface Behaviour {
  readonly entity: Entity.Entity<string, Rpc.Any>
  readonly build: Effect.Effect<Context.Context<never>>
  readonly context: Context.Context<never>
  readonly mailboxCapacity: number
}

/** What came of a message. */
export type Outcome = Exit.Exit<unknown, unknown>

/** It runs with the services that its actor was built with. */
interface Handler {
  readonly handler: (request: unknown, options: unknown) => Effect.Effect<unknown, unknown>
}

/** One living instance of an actor in one process. */
interface Instance {
  readonly actor: ActorId
  readonly address: EntityAddress.EntityAddress
  readonly context: Context.Context<never>
  readonly scope: Scope.CloseableScope
  readonly handlers: Fiber.RuntimeFiber<Context.Context<never>>
  readonly running: Set<Fiber.RuntimeFiber<unknown, unknown>>
}

/** A process as a host of actors: it starts them when their first message comes, and runs their handlers. */
export class ActorHost {
  readonly process: VirtualProcess
  readonly #journal: Journal
  readonly #behaviours = new Map<string, Behaviour>()
  readonly #instances = new Map<string, Instance>()

  constructor(process: VirtualProcess, journal: Journal) {
    this.process = process
    this.#journal = journal
  }

  /** Makes a kind of actor known. */
  register(behaviour: Behaviour) {
    this.#behaviours.set(behaviour.entity.type, behaviour)
  }

  /** Whether it knows how actors of this kind behave. */
  knows(type: string): boolean {
    return this.#behaviours.has(type)
  }

  /** The actors that live here. */
  get actors(): ReadonlyArray<ActorId> {
    return Array.from(this.#instances.values(), ({ actor }) => actor)
  }

  /**
   * Runs a message in the process, and tells what came of it. Gives what interrupts it. Nothing is told when the process dies.
   */
  receive(actor: ActorId, tag: string, payload: unknown, done: (outcome: Outcome) => void): () => void {
    const behaviour = this.#behaviours.get(actor.type)!
    const instance = this.#instanceOf(actor, behaviour)
    if (instance.running.size >= behaviour.mailboxCapacity) {
      done(Exit.fail(new ClusterError.MailboxFull({ address: addressOf(actor) })))
      return () => {}
    }
    const built = instance.handlers.unsafePoll() ?? Effect.flatten(Fiber.await(instance.handlers))
    const run = Effect.flatMap(built, (handlers) => {
      const rpc = behaviour.entity.protocol.requests.get(tag)!
      const { handler } = handlers.unsafeMap.get(rpc.key) as Handler
      return handler({ payload, tag, address: instance.address }, options)
    })
    const fiber = forkWith(this.process, instance.context, run)
    instance.running.add(fiber)
    fiber.addObserver((exit) => {
      instance.running.delete(fiber)
      done(exit)
    })
    return () => fiber.unsafeInterruptAsFork(fiber.id())
  }

  /** Stops an actor, if it lives here: its requests are interrupted, its finalizers run. Gives what can be waited for. */
  stop(actor: ActorId): ReadonlyArray<Fiber.Fiber<unknown, unknown>> {
    const instance = this.#instances.get(nameOf(actor))
    if (instance === undefined) return []
    this.#instances.delete(nameOf(actor))
    this.#journal.add({ tag: "deactivated", by: this.process.id, actor: nameOf(actor) })
    const requests = Array.from(instance.running)
    for (const fiber of requests) fiber.unsafeInterruptAsFork(fiber.id())
    return [...requests, fork(this.process, Scope.close(instance.scope, Exit.void))]
  }

  #instanceOf(actor: ActorId, behaviour: Behaviour): Instance {
    const present = this.#instances.get(nameOf(actor))
    if (present !== undefined) return present
    const scope = Effect.runSync(Scope.make())
    const address = addressOf(actor)
    const context = behaviour.context.pipe(
      Context.add(Entity.CurrentAddress, address),
      Context.add(Entity.CurrentRunnerAddress, RunnerAddress.make(this.process.id, 0)),
      Context.add(Scope.Scope, scope)
    )
    const instance: Instance = {
      actor,
      address,
      context,
      scope,
      handlers: forkWith(this.process, context, behaviour.build),
      running: new Set()
    }
    this.#instances.set(nameOf(actor), instance)
    this.#journal.add({ tag: "activated", by: this.process.id, actor: nameOf(actor) })
    return instance
  }
}

const options = { clientId: 0, headers: Headers.empty }

/** Unchecked: checks by schema would be a hundredth of a run. */
const addressOf = (actor: ActorId) =>
  new EntityAddress.EntityAddress(
    {
      shardId: ShardId.make("default", actor.number),
      entityType: EntityType.EntityType.make(actor.type, { disableValidation: true }),
      entityId: EntityId.make(actor.id)
    },
    { disableValidation: true }
  )
