// One schedule of a scene: two processes with the real host on one store, and the choices at each point of it.
import { createHost, type Host, type HostOptions, type Store, StoreError, StoreTimeoutError } from "@colloquy/host";
import { LeaseLostError } from "@colloquy/host/store";

import { Digest } from "./digest.ts";
import { machine, outcomeOf, type Place, type Scene, type SceneName, toolsWith } from "./scene.ts";
import { Shelf, storeOf, threadId } from "./shelf.ts";
import { User } from "./user.ts";
import { become, type Call, Failure, type Outcome, Process, World } from "./world.ts";

/** A step that can happen next. The first choice of a point is the default, and costs nothing. */
export interface Choice {
  readonly what: string;
  /** One for what happens at once; two for what lasts until a later point of its own. */
  readonly cost: 0 | 1 | 2;
  readonly take: () => void | Promise<void>;
}

/** A mistake that is built into what a host uses, to see that it is found. */
export interface Fault {
  readonly about: string;
  /** Where it shows, and at which bound: not below it. */
  readonly scene: SceneName;
  readonly bound: number;
  readonly store?: (store: Store) => Store;
  readonly host?: (options: HostOptions) => HostOptions;
}

export class Run {
  readonly world: World = new World();
  readonly shelf: Shelf;
  readonly user: User;
  readonly #scene: Scene;
  readonly #fault: Fault | undefined;
  readonly #lives = { A: 0, B: 0 };
  /** The writes of dead processes that are still under way. */
  readonly #ghosts: Call[] = [];
  readonly #processes: { A: Process; B: Process };
  /** The process that continues first. */
  #current: Place = "A";

  constructor(scene: Scene, fault?: Fault) {
    this.#scene = scene;
    this.#fault = fault;
    this.shelf = new Shelf(this.world, fault?.store ?? ((store) => store));
    this.user = new User(this.world, scene, this.shelf, (place) => this.#processes[place]);
    this.#processes = { A: this.#start("A"), B: this.#start("B") };
  }

  get processes(): readonly Process[] {
    return [this.#processes.A, this.#processes.B];
  }

  /** A key of everything on which the rest of the schedule can depend. */
  get key(): number {
    const { A, B } = this.#processes;
    const kept = (call: Call): string => (call.kept === null ? "" : call.kept.answer === null ? "held" : "late");
    const digest = new Digest(`${this.world.now} ${this.#current} ${this.user.text}`);
    const { token, until } = this.shelf.lease;
    digest.add(`${this.shelf.digest.text} ${token} ${until}`);
    for (const [id, item] of this.shelf.inbox) digest.add(`${id} ${item}`);
    for (const process of [A, B]) {
      digest.add(`${process.digest.text} ${process.standsUntil ?? ""}`);
      for (const call of process.calls) digest.add(`${call.number} ${kept(call)} ${call.kept?.until ?? ""}`);
    }
    for (const ghost of this.#ghosts) digest.add(`${ghost.process.name} ${ghost.number} ${ghost.what}`);
    return digest.key;
  }

  /** Whether something is kept back, which can continue at any time. */
  get keepsBack(): boolean {
    return (
      this.#ghosts.length > 0 ||
      this.processes.some(({ standsUntil, calls }) => standsUntil !== null || calls.some(({ kept }) => kept !== null))
    );
  }

  /** Returns what happens next if the schedule says nothing: the first of the choices; undefined if nothing can. */
  byItself(): Choice | undefined {
    const order = this.#order;
    const call =
      openCall(order[0], false) ?? openCall(order[1], false) ?? openCall(order[0], true) ?? openCall(order[1], true);
    return call === undefined ? (this.#nextAct() ?? this.#time(order)) : this.#choiceOf(call, "answered");
  }

  /** Returns the choices; none when nothing can ever happen any more. */
  choices(): readonly Choice[] {
    const order = this.#order;
    const open = order.flatMap(({ standsUntil, calls }) =>
      standsUntil === null ? calls.filter(({ kept }) => kept === null) : [],
    );
    const calls = [...open.filter(({ kind }) => kind !== "work"), ...open.filter(({ kind }) => kind === "work")];
    const [first, ...others] = [
      ...calls.map((call) => this.#choiceOf(call, "answered")),
      ...listed(this.#nextAct()),
      ...listed(this.#time(order)),
    ];
    const [call] = calls;
    const outcomes = call === undefined ? [] : outcomesOf(call);
    return [
      ...(first === undefined ? [] : [first]),
      ...others,
      ...this.#released(),
      ...(call === undefined ? [] : outcomes.map((outcome) => this.#choiceOf(call, outcome))),
      ...order.flatMap((process) => this.#mishapsOf(process)),
    ];
  }

  get #order(): readonly [Process, Process] {
    const { A, B } = this.#processes;
    return this.#current === "A" ? [A, B] : [B, A];
  }

  /** Answers all calls as they should be, and closes the hosts. Returns false if that never ends. */
  async close(settle: () => Promise<void>): Promise<boolean> {
    for (const process of this.processes) process.standsUntil = null;
    let open = this.processes.length;
    for (const process of this.processes) void process.host.close().finally(() => open--);
    await settle();
    for (let steps = 0; steps < stepsToClose && (open > 0 || this.#isUnderWay()); steps++) {
      const choice = this.#released()[0] ?? this.byItself();
      if (choice === undefined) return open === 0;
      await choice.take();
      await settle();
    }
    return open === 0;
  }

  #isUnderWay(): boolean {
    return this.#ghosts.length > 0 || this.processes.some(({ calls }) => calls.some(({ kind }) => kind === "write"));
  }

  #start(name: Place): Process {
    const life = ++this.#lives[name];
    const process = new Process(this.world, name, life);
    process.host = this.#hostIn(process, life);
    return process;
  }

  #hostIn(process: Process, life: number): Host {
    const { shelf } = this;
    const { isCaller = false } = this.#scene;
    const mayLease = !isCaller || process.name === "A";
    const options: HostOptions = {
      machine,
      store: storeOf(process, shelf, mayLease),
      llm: (call) => {
        shelf.performs(process, call.id);
        const busy = { type: "failed", failure: { kind: "overloaded", message: "busy", retryable: true } } as const;
        return process.call(`model ${call.id}`, "work", () => outcomeOf(call)).catch(() => busy);
      },
      tools: toolsWith((name, { idempotencyKey }, input) => {
        shelf.performs(process, idempotencyKey);
        shelf.ran(idempotencyKey, input);
        return process.call(`tool ${name} ${idempotencyKey}`, "work", () => `${name} done`);
      }),
      clock: process.clock,
      ids: { draw: (kind) => process.draw(kind, life) },
      defaultThread: threadId,
      leaseTtlMs,
      storeTimeoutMs: 500,
      idleMs: 1_000,
      pollMs: isCaller && process.name === "B" ? 300 : 100,
      snapshotEvery: 0,
      recovery: isCaller && process.name === "A" ? { everyMs: 400 } : false,
      onObserverError: (error, where) => this.#reported(error, where),
      observers: [{ entry: (entry) => shelf.acknowledged(process, entry) }],
    };
    const host = createHost(this.#fault?.host?.(options) ?? options);
    if (isCaller && process.name === "A") host.start();
    return host;
  }

  #reported(error: unknown, where: string): void {
    if (isOfStore(error)) return;
    this.world.breaks(`settles: ${where} failed: ${error instanceof Error ? error.stack : String(error)}`);
  }

  #choiceOf(call: Call, outcome: Outcome): Choice {
    const { process, what } = call;
    return {
      what: `${process.name} ${what}: ${outcome}`,
      cost: outcome === "held" || outcome === "late" || outcome === "repeated" ? 2 : 1,
      take: () => {
        this.#current = placeOf(process);
        return become(call, outcome, this.world.now + keptMs);
      },
    };
  }

  /** The calls that are kept back, and the processes that stand still: each can continue at any time. */
  #released(): readonly Choice[] {
    const kept = this.processes.flatMap(({ standsUntil, calls }) =>
      standsUntil === null ? calls.filter((call) => call.kept !== null) : [],
    );
    const standing = this.processes.filter(({ standsUntil }) => standsUntil !== null);
    return [
      ...[...kept, ...this.#ghosts].map((call): Choice => ({
        what: `${call.process.name} ${call.what}: at last`,
        cost: 0,
        take: () => {
          const ghost = this.#ghosts.indexOf(call);
          if (ghost >= 0) this.#ghosts.splice(ghost, 1);
          return become(call, "answered", 0);
        },
      })),
      ...standing.map((process): Choice => ({
        what: `${process.name} goes on`,
        cost: 0,
        take: () => void (process.standsUntil = null),
      })),
    ];
  }

  /** Time passes until the next timer, or until something has been kept back for long enough. */
  #time(order: readonly Process[]): Choice | undefined {
    const next = order
      .flatMap((process) => {
        const { standsUntil, nextTimer } = process;
        if (standsUntil !== null) return [{ at: standsUntil, go: () => void (process.standsUntil = null) }];
        const timer = nextTimer === undefined ? [] : [{ at: nextTimer.dueAt, go: () => process.fire() }];
        const kept = process.calls.flatMap((call) =>
          call.kept === null ? [] : [{ at: call.kept.until, go: () => become(call, "answered", 0) }],
        );
        return [...timer, ...kept];
      })
      .sort((one, other) => one.at - other.at)[0];
    if (next === undefined) return undefined;
    const take = (): void | Promise<void> => {
      this.world.now = Math.max(this.world.now, next.at);
      return next.go();
    };
    return { what: `time passes to ${next.at}`, cost: 1, take };
  }

  #mishapsOf(process: Process): readonly Choice[] {
    if (process.standsUntil !== null) return [];
    const writing = process.calls.filter(({ kind, kept }) => kind === "write" && kept === null);
    const stand = (): void => void (process.standsUntil = this.world.now + keptMs);
    return [
      { what: `${process.name} dies`, cost: 1, take: () => this.#crash(process, []) },
      ...(writing.length === 0
        ? []
        : [{ what: `${process.name} dies in mid-write`, cost: 2, take: () => this.#crash(process, writing) } as const]),
      { what: `${process.name} stands still`, cost: 2, take: stand },
    ];
  }

  /** Ends a process, and starts another one at once. The writes of the dead one may still be done. */
  #crash(process: Process, writing: readonly Call[]): void {
    const at = placeOf(process);
    process.alive = false;
    this.#ghosts.push(...writing);
    this.#processes[at] = this.#start(at);
    this.user.lost(at);
  }

  #nextAct(): Choice | undefined {
    const act = this.user.next();
    if (act === undefined) return undefined;
    return { what: `the user: ${act.type} at ${act.at}`, cost: 1, take: () => this.user.do(act) };
  }
}

const leaseTtlMs = 900;

/** How long something is kept back at most: longer than a lease. */
const keptMs = 1_300;

const stepsToClose = 2_000;

const isOfStore = (error: unknown): boolean =>
  [Failure, StoreError, StoreTimeoutError, LeaseLostError].some((kind) => error instanceof kind);

const listed = (choice: Choice | undefined): readonly Choice[] => (choice === undefined ? [] : [choice]);

// Processes are made under these names only.
const placeOf = ({ name }: Process): Place => name as Place;

/** The outcomes of a call besides an answer. Reading twice is reading once. */
const outcomesOf = ({ kind }: Call): readonly Outcome[] => {
  if (kind === "work") return ["failed", "held"];
  return kind === "read" ? ["failed", "late", "held"] : ["failed", "lost", "repeated", "late", "held"];
};

/** Returns the oldest call of a process that can be answered: of the store, or of a model or tool. */
const openCall = ({ standsUntil, calls }: Process, isWork: boolean): Call | undefined =>
  standsUntil === null ? calls.find(({ kept, kind }) => kept === null && (kind === "work") === isWork) : undefined;
