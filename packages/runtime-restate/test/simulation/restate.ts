import { CancelledError } from "@restatedev/restate-sdk";
import type { VirtualClock } from "@colloquy/runtime-test";
import { Attempt } from "./attempt.ts";
import {
  cancelled,
  type Handle,
  type HandlerName,
  type Invocation,
  type RunningAttempt,
  type Server,
  valueIn,
  type VirtualWorker,
} from "./invocation.ts";
import type { Outcome } from "./promise.ts";

/** The faults, drawn by `random`: their rate at each operation, and their maximum. */
export interface Faults {
  readonly random: () => number;
  readonly chance: number;
  readonly most: number;
  /** The percentage of faults that lose a connection while its worker lives. */
  readonly lost: number;
}

/** Restate in memory, in one process. Its actions and their order follow from the drawn numbers. */
export class Restate implements Server {
  readonly clock: VirtualClock;
  readonly problems: string[] = [];
  readonly #faults: Faults;
  readonly #makeWorker: () => Handle;
  readonly #workers: readonly VirtualWorker[];
  readonly #states = new Map<string, Map<string, string>>();
  readonly #queues = new Map<string, Invocation[]>();
  readonly #invocations = new Map<string, Invocation>();
  readonly #byIdempotencyKey = new Map<string, Invocation>();
  #struck = 0;

  /** @param makeWorker makes a worker with an empty memory */
  constructor(clock: VirtualClock, faults: Faults, makeWorker: () => Handle) {
    this.clock = clock;
    this.#faults = faults;
    this.#makeWorker = makeWorker;
    this.#workers = [1, 2].map(() => ({ handle: makeWorker(), isUp: true, attempts: new Set() }));
  }

  get struck(): number {
    return this.#struck;
  }

  stateOf(key: string): Map<string, string> {
    const state = this.#states.get(key) ?? new Map<string, string>();
    this.#states.set(key, state);
    return state;
  }

  /** Calls a handler from outside. */
  async call(key: string, name: HandlerName, input: unknown, idempotencyKey?: string): Promise<unknown> {
    const known = `${key} ${name} ${idempotencyKey}`;
    const earlier = idempotencyKey === undefined ? undefined : this.#byIdempotencyKey.get(known);
    const invocation = earlier ?? this.send(key, name, input);
    if (idempotencyKey !== undefined) this.#byIdempotencyKey.set(known, invocation);
    const outcome = await invocation.ended.promise;
    await new Promise<void>((resolve) => this.later(3, resolve));
    if ("failure" in outcome) throw outcome.failure;
    return valueIn(outcome.value);
  }

  send(key: string, name: HandlerName, input: unknown, delayMs = 0): Invocation {
    const invocation: Invocation = {
      id: `inv_${this.#invocations.size}`,
      key,
      name,
      input: JSON.stringify(input) ?? "null",
      commands: [],
      told: [],
      calls: new Map(),
      ended: Promise.withResolvers(),
      stage: "waits",
      attempt: null,
    };
    this.#invocations.set(invocation.id, invocation);
    const arrive = (): void => this.#arrive(invocation);
    if (delayMs > 0) this.clock.wakeAt(this.clock.now() + delayMs, arrive);
    else this.later(3, arrive);
    return invocation;
  }

  later(mostMs: number, act: () => void): void {
    this.clock.wakeAt(this.clock.now() + Math.floor(this.#faults.random() * (mostMs + 1)), act);
  }

  tell(invocationId: string, id: string, outcome: Outcome<string | undefined>): void {
    const invocation = this.#invocations.get(invocationId);
    if (invocation === undefined || invocation.stage === "over") return;
    invocation.told.push({ id, outcome });
    invocation.attempt?.wake();
  }

  cancel(invocationId: string): void {
    const invocation = this.#invocations.get(invocationId);
    if (invocation?.stage !== "waits") return this.tell(invocationId, cancelled, { value: undefined });
    const queue = this.#queueOf(invocation.key);
    if (queue.includes(invocation)) queue.splice(queue.indexOf(invocation), 1);
    this.end(invocation, { failure: new CancelledError() });
  }

  end(invocation: Invocation, outcome: Outcome<string | undefined>): void {
    const queue = this.#queueOf(invocation.key);
    const wasHead = queue[0] === invocation;
    invocation.stage = "over";
    invocation.attempt = null;
    invocation.ended.resolve(outcome);
    if (!wasHead) return;
    queue.shift();
    const [next] = queue;
    if (next !== undefined) this.#start(next);
  }

  strikes(attempt: RunningAttempt): boolean {
    const { random, chance, most } = this.#faults;
    if (attempt.isDead) return true;
    if (this.#struck >= most || random() >= chance) return false;
    this.#struck += 1;
    this.#strike(attempt);
    return true;
  }

  mayStrikeWithin(ms: number, attempt: RunningAttempt): void {
    const { random, most } = this.#faults;
    if (this.#struck >= most || random() >= 0.1) return;
    this.#struck += 1;
    this.later(ms, () => {
      if (!attempt.isDead && attempt.invocation.stage !== "over") this.#strike(attempt);
    });
  }

  /** Loses the attempt's connection, or its whole worker, which then restarts with an empty memory. */
  #strike(attempt: RunningAttempt): void {
    const { worker } = attempt;
    if (this.#faults.random() * 100 < this.#faults.lost) return this.#drop(attempt);
    worker.isUp = false;
    for (const each of worker.attempts) this.#drop(each);
    worker.handle = this.#makeWorker();
    this.later(200, () => {
      worker.isUp = true;
    });
  }

  #drop(attempt: RunningAttempt): void {
    const { invocation, worker } = attempt;
    worker.attempts.delete(attempt);
    attempt.isDead = true;
    invocation.attempt = null;
    // The attempt continues its work until it notices.
    this.later(40, () => attempt.completed.abort());
    this.later(60, () => this.#start(invocation));
  }

  #arrive(invocation: Invocation): void {
    if (invocation.stage === "over") return;
    if (isShared(invocation.name)) return this.#start(invocation);
    const queue = this.#queueOf(invocation.key);
    queue.push(invocation);
    if (queue.length === 1) this.#start(invocation);
  }

  #start(invocation: Invocation): void {
    if (invocation.stage === "over") return;
    const up = this.#workers.filter(({ isUp }) => isUp);
    const worker = up[Math.floor(this.#faults.random() * up.length)];
    if (worker === undefined) return this.later(50, () => this.#start(invocation));
    invocation.stage = "runs";
    void new Attempt(this, worker, invocation).run();
  }

  #queueOf(key: string): Invocation[] {
    const queue = this.#queues.get(key) ?? [];
    this.#queues.set(key, queue);
    return queue;
  }
}

const isShared = (name: HandlerName): boolean => name === "cut" || name === "perform";
