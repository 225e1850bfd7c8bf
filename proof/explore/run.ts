// One schedule of a scene: two processes with the real host on one store, and the choices at each point of it.
import {
  AskRefusedError,
  type AskResult,
  createHost,
  type Host,
  type HostOptions,
  memoryStore,
  type Receipt,
  type Store,
  StoreError,
  ThreadClosedError,
  ThreadHeldError,
  ThreadUnknownError,
  TurnCancelledError,
  TurnFailedError,
} from "@colloquy/host";
import { LeaseLostError, SequenceConflictError } from "@colloquy/host/store";
import {
  type AnswerableEffect,
  type Entry,
  type Event,
  type LaterEntry,
  outstanding,
  type State,
} from "@colloquy/machine";
import { fold, foldEntry } from "@colloquy/machine/journal";
import type { ApprovalLogItem } from "@colloquy/runtime-test/laws";
import * as Either from "fp-ts/lib/Either.js";

import { Digest } from "./digest.ts";
import { type Act, machine, outcomeOf, type Scene, type SceneName, toolsWith } from "./scene.ts";
import { become, type Call, Failure, type Outcome, Process, Shelf, storeOf, World } from "./world.ts";

/** What can happen next. The first choice of a point is what happens if the schedule says nothing, and costs nothing. */
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

interface Question {
  readonly askId: string;
  readonly input: string;
  readonly at: Act["at"];
  tries: number;
  end: AskResult | Error | null;
}

interface Sending {
  readonly act: Act;
  readonly event: Event;
  tries: number;
  receipt: Receipt | "unknown" | null;
}

export class Run {
  readonly world: World = new World();
  readonly shelf: Shelf = new Shelf();
  readonly store: Store;
  readonly questions: Question[] = [];
  readonly sendings: Sending[] = [];
  readonly ran: string[] = [];
  readonly log: ApprovalLogItem[] = [];
  state: State | null = null;
  /** Whether all is over but for what is still kept back. */
  isClosing = false;
  readonly #scene: Scene;
  readonly #fault: Fault | undefined;
  readonly #asked = new Set<string>();
  readonly #outside: Digest = new Digest("");
  readonly #lives = { A: 0, B: 0 };
  readonly #ghosts: Call[] = [];
  #done = 0;
  #processes: { A: Process; B: Process };
  #current: Act["at"] = "A";

  constructor(scene: Scene, fault?: Fault) {
    this.#scene = scene;
    this.#fault = fault;
    const sound = memoryStore({ clock: { now: () => this.world.now, wakeAt: () => () => undefined } });
    this.store = this.#watched(fault?.store?.(sound) ?? sound);
    this.#processes = { A: this.#start("A"), B: this.#start("B") };
  }

  get processes(): readonly Process[] {
    return [this.#processes.A, this.#processes.B];
  }

  /** Whether the user has nothing left to do or to wait for. */
  get isSettled(): boolean {
    return (
      this.#done === this.#scene.acts.length &&
      this.questions.every(({ end }) => end !== null) &&
      this.sendings.every(({ receipt }) => receipt !== null)
    );
  }

  /** A key of everything on which the rest of the schedule can depend. */
  get key(): number {
    const { A, B } = this.#processes;
    const kept = (call: Call): string => (call.kept === null ? "" : call.kept.answer === null ? "held" : "late");
    const digest = new Digest(`${this.world.now} ${this.#current} ${this.#done} ${this.#outside.text}`);
    const { token, until } = this.shelf.lease;
    digest.add(`${this.shelf.journal.text} ${token} ${until}`);
    for (const [id, item] of this.shelf.inbox) digest.add(`${id} ${item}`);
    for (const process of [A, B]) {
      digest.add(`${process.digest.text} ${process.standsUntil ?? ""}`);
      for (const call of process.calls) digest.add(`${call.number} ${kept(call)} ${call.kept?.until ?? ""}`);
    }
    for (const ghost of this.#ghosts) digest.add(`${ghost.process.name} ${ghost.number} ${ghost.what}`);
    return digest.key;
  }

  /** Whether something is kept back, which can go on at any time. */
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
      ...[this.#nextAct() ?? []].flat(),
      ...[this.#time(order) ?? []].flat(),
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
    this.isClosing = true;
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

  #start(name: Act["at"]): Process {
    const life = ++this.#lives[name];
    const process = new Process(this.world, name, life);
    process.host = this.#hostIn(process, life);
    return process;
  }

  #hostIn(process: Process, life: number): Host {
    const { isCaller = false } = this.#scene;
    const mayLease = !isCaller || process.name === "A";
    const options: HostOptions = {
      machine,
      store: storeOf(process, this.store, this.shelf, mayLease),
      llm: (call) => {
        this.#performs(process, call.id);
        const busy = { type: "failed", failure: { kind: "overloaded", message: "busy", retryable: true } } as const;
        return process.call(`model ${call.id}`, "work", () => outcomeOf(call)).catch(() => busy);
      },
      tools: toolsWith((name, call, input) => {
        const key = call.idempotencyKey;
        this.#performs(process, key);
        this.#ran(key, input);
        return process.call(`tool ${name} ${key}`, "work", () => `${name} done`);
      }),
      clock: process.clock,
      ids: { draw: (kind) => process.draw(kind, life) },
      defaultThread: threadId,
      leaseTtlMs,
      storeTimeoutMs: 500,
      idleMs: 1_000,
      pollMs: 100,
      snapshotEvery: 0,
      recovery: isCaller && process.name === "A" ? { everyMs: 400 } : false,
      onObserverError: (error, where) => this.#reported(error, where),
      observers: [{ entry: (entry) => this.#acknowledged(process, entry) }],
    };
    const host = createHost(this.#fault?.host?.(options) ?? options);
    if (isCaller && process.name === "A") host.start();
    return host;
  }

  /** Checks what is written to the store, and keeps what it holds. */
  #watched(store: Store): Store {
    const append: Store["append"] = async (lease, seq, entries) => {
      let written = entries;
      try {
        await store.append(lease, seq, entries);
      } catch (error) {
        // Only `append` writes entries.
        written = (await store.read(threadId, this.shelf.entries.length)) as readonly Entry[];
        throw error;
      } finally {
        for (const entry of written) this.#wrote(entry);
        const { token, until } = this.shelf.lease;
        if (written.length > 0 && (token !== lease.token || this.world.now >= until))
          this.world.breaks(`R3: lease ${lease.token} wrote, and is not in force`);
      }
    };
    return new Proxy(store, {
      get: (target, name) => {
        if (name === "append") return append;
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  }

  #wrote(entry: Entry): void {
    const { shelf, state } = this;
    if (entry.seq !== shelf.entries.length)
      this.world.breaks(`R3: entry ${entry.seq} was written where ${shelf.entries.length} is due`);
    shelf.entries.push(entry);
    shelf.journal.add(JSON.stringify(entry));
    this.log.push({ did: "appended", entry });
    this.#outside.add(String(entry.seq));
    if (state === null) {
      const begun = fold([entry]);
      if (Either.isRight(begun)) this.state = begun.right;
      else this.world.breaks(`M5: entry 0 does not fold: ${begun.left.reason}`);
    } else this.state = foldEntry(state, entry as LaterEntry);
    for (const effect of this.#outstanding()) this.#asked.add(effect.id).add(keyOf(effect));
  }

  #outstanding(): readonly AnswerableEffect[] {
    return this.state === null ? [] : outstanding(this.state);
  }

  #performs(process: Process, id: string): void {
    if (!this.#asked.has(id)) this.world.breaks(`R1: "${id}" is performed, and no entry of the journal asks for it`);
    const { by, until } = this.shelf.lease;
    if (by !== process || this.world.now >= until)
      this.world.breaks(`R3: "${id}" is performed by ${process.name}, which does not have the lease`);
  }

  #ran(key: string, input: unknown): void {
    this.ran.push(key);
    this.log.push({ did: "ran", key, input });
    this.#outside.add(key);
  }

  #acknowledged(process: Process, entry: Entry): void {
    const stored = this.shelf.entries[entry.seq];
    if (stored !== entry && JSON.stringify(stored) !== JSON.stringify(entry))
      this.world.breaks(`R3: ${process.name} takes entry ${entry.seq} (${entry.event.type}) for stored, and it is not`);
  }

  #reported(error: unknown, where: string): void {
    if (error instanceof Failure || error instanceof StoreError || error instanceof LeaseLostError) return;
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

  /** The calls that are kept back, and the processes that stand still: each can go on at any time. */
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

  /** Ends a process, and starts another one at once. What the dead one was writing may still be written. */
  #crash(process: Process, writing: readonly Call[]): void {
    const at = placeOf(process);
    process.alive = false;
    this.#ghosts.push(...writing);
    this.#processes[at] = this.#start(at);
    for (const question of this.questions) if (question.at === at && question.end === null) this.#ask(question);
    for (const sending of this.sendings) {
      if (sending.act.at === at && sending.receipt === null) this.#sendAgain(sending);
    }
  }

  /** Returns the next act of the user, if it is possible now. */
  #nextAct(): Choice | undefined {
    const act: Act | undefined = this.#scene.acts[this.#done];
    if (act === undefined || this.#processes[act.at].standsUntil !== null || !this.#isPossible(act)) return undefined;
    return { what: `the user: ${act.type} at ${act.at}`, cost: 1, take: () => this.#do(act) };
  }

  #isPossible({ type, after }: Act): boolean {
    const isOver = this.questions.every(({ end }) => end !== null);
    if (type === "approve") return isOver || this.#outstanding().some((effect) => effect.type === "requestApproval");
    if (after === undefined) return true;
    const taken = this.shelf.entries.filter(({ event }) => event.type === "ask.received").length;
    const isTold = this.sendings.every(({ receipt }) => receipt !== null);
    return after === "ended" ? isOver && isTold : taken === this.questions.length;
  }

  #do(act: Act): void {
    this.#done++;
    if (act.type === "ask") {
      const question: Question = { ...act, askId: `ask-${this.questions.length + 1}`, tries: 0, end: null };
      this.questions.push(question);
      this.#ask(question);
      return;
    }
    const event = this.#eventOf(act);
    if (event === null) return;
    const sending: Sending = { act, event, tries: 0, receipt: null };
    this.sendings.push(sending);
    this.#send(sending);
  }

  #eventOf({ type }: Act): Event | null {
    const at = this.world.now;
    const askId = this.questions.at(-1)?.askId ?? "";
    if (type === "undo") return { type: "head.moved", at, to: 0 };
    if (type === "cancel") return { type: "cancel.requested", at, askId };
    const request = this.#outstanding().find((effect) => effect.type === "requestApproval");
    // The turn is over if nothing is requested: then there is nothing to approve.
    if (request?.type !== "requestApproval") return null;
    return { type: "approval.answered", at, effectId: request.id, approved: true, digest: request.digest };
  }

  #ask(question: Question): void {
    const process = this.#processes[question.at];
    const { askId, input } = question;
    if (++question.tries > triesMax) return this.world.breaks(`settles: ${askId} was asked ${triesMax} times`);
    process.given(`ask ${askId}`);
    const over = (end: unknown): void => {
      if (!process.alive || question.end !== null) return;
      if (isPassing(end)) return this.#ask(question);
      if (!isEnd(end)) return this.world.breaks(`settles: ${askId} ended with ${String(end)}`);
      question.end = end;
    };
    process.host.ask(input, { askId }).then(over, over);
  }

  #send(sending: Sending): void {
    const process = this.#processes[sending.act.at];
    if (++sending.tries > triesMax)
      return this.world.breaks(`settles: ${sending.event.type} was sent ${triesMax} times`);
    process.given(`send ${sending.event.type}`);
    process.host
      .thread()
      .send(sending.event)
      .then(
        (receipt) => void (sending.receipt = receipt),
        (error: unknown) => {
          if (!process.alive) return;
          if (isPassing(error) || error instanceof ThreadUnknownError) return this.#sendAgain(sending);
          this.world.breaks(`settles: sending ${sending.event.type} was rejected with ${String(error)}`);
        },
      );
  }

  /** Sends an event again whose fate is unknown, unless it may not be done twice, or has become pointless. */
  #sendAgain(sending: Sending): void {
    const { event } = sending;
    const isWanted =
      event.type === "head.moved" ||
      (event.type === "approval.answered" && this.#outstanding().some(({ id }) => id === event.effectId));
    if (isWanted) this.#send(sending);
    else sending.receipt = "unknown";
  }
}

export const threadId = "explored";

const leaseTtlMs = 900;

/** How long something is kept back at most: longer than a lease. */
const keptMs = 1_300;

const stepsToClose = 2_000;

const triesMax = 30;

// Processes are made under these names only.
const placeOf = ({ name }: Process): Act["at"] => name as Act["at"];

/** The idempotency key of a tool call; the id of any other effect. */
const keyOf = (effect: AnswerableEffect): string =>
  effect.type === "callTool" ? `${effect.threadId}/${effect.callId}#1` : effect.id;

/** What a call can become beside being answered. Reading twice is reading once. */
const outcomesOf = ({ kind }: Call): readonly Outcome[] => {
  if (kind === "work") return ["failed", "held"];
  return kind === "read" ? ["failed", "late", "held"] : ["failed", "lost", "repeated", "late", "held"];
};

/** Returns the oldest call of a process that can be answered: of the store, or of a model or tool. */
const openCall = ({ standsUntil, calls }: Process, isWork: boolean): Call | undefined =>
  standsUntil === null ? calls.find(({ kept, kind }) => kept === null && (kind === "work") === isWork) : undefined;

const passing = [ThreadHeldError, ThreadClosedError, LeaseLostError, SequenceConflictError, StoreError];

const isPassing = (error: unknown): boolean => passing.some((kind) => error instanceof kind);

const isEnd = (end: unknown): end is AskResult | Error =>
  end instanceof TurnFailedError ||
  end instanceof TurnCancelledError ||
  end instanceof AskRefusedError ||
  (typeof end === "object" && end !== null && "status" in end && end.status === "completed");
