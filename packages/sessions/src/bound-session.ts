import type { Checkpoint, HostedThread } from "@colloquy/host";
import { promptOf, start, type State, type Turn, turnsOf } from "@colloquy/machine";
import { summarySections } from "@colloquy/machine/hosting";
import { beginCall } from "./call/begin-call.ts";
import type { CallHandle, CallOptions } from "./call/call.ts";
import { threadIdOfUser, threadIdUnder, type Where } from "./call/place.ts";
import type { SessionCore } from "./core/core.ts";
import type { Ground } from "./core/ground.ts";
import { mostShown } from "./core/policy.ts";
import { pastMemory } from "./nesting/episodes.ts";
import { type Trace, traceOf } from "./nesting/trace.ts";
import { draftsOf, exchangesGiven, type GivenExchange } from "./program/exchange.ts";
import { type Memory, memoryOf, summariesIn, type TurnSummary } from "./program/memory.ts";
import type { Program } from "./program/program.ts";
import { type RecordedExampleOptions, type Records, recordsOf } from "./records.ts";
import { journalIn, type SavedSession } from "./saved/saved-session.ts";
import type { Examples } from "./score/examples.ts";
import type { Metric, ScoreOptions } from "./score/score.ts";
import type { TurnPrompt } from "./shown/turn-prompt.ts";
import { type SessionTurn, sessionTurns, isRecorded, sessionTurn } from "./thread/turns.ts";

/** A session bound to one of its threads. It is untyped; `session` adds the types. */
export class BoundSession implements Records<object, object> {
  readonly name: string;
  readonly thread: HostedThread;
  readonly #core: SessionCore;
  readonly #ground: Ground;
  readonly #records: Records<object, object>;
  readonly #where: Where;
  /** The thread of the outer session under which this one is viewed; null if it is viewed by itself. */
  readonly #outer: string | null;

  constructor(core: SessionCore, ground: Ground, where: Where, outer: string | null) {
    this.name = core.name;
    this.thread = ground.host.thread(where.threadId);
    this.#core = core;
    this.#ground = ground;
    this.#where = where;
    this.#outer = outer;
    this.#records = recordsOf(core, this.thread);
  }

  call(inputs: object, options?: CallOptions): CallHandle<object> {
    return beginCall(this.#core, this.#where, inputs, options);
  }

  user(id: string): BoundSession {
    return this.#on(threadIdOfUser(this.name, id));
  }

  under(outer: { readonly thread: HostedThread }): BoundSession {
    const { id } = outer.thread;
    const ground = this.#core.ground(outer instanceof BoundSession ? outer.#ground : undefined);
    return new BoundSession(this.#core, ground, { threadId: threadIdUnder(id, this.name), named: true }, id);
  }

  async turns(): Promise<readonly SessionTurn[]> {
    return sessionTurns(await this.thread.state(), this.#core.options.maxStoredTurns);
  }

  async count(): Promise<number> {
    return (await this.turns()).length;
  }

  async memory(): Promise<Memory> {
    return this.#memoryIn(await this.#state());
  }

  async summaries(): Promise<readonly TurnSummary[]> {
    const state = await this.#state();
    const { cut } = promptOf(this.#core.machine, state);
    const sections =
      cut.summarised === undefined ? [] : summarySections(state.context.conversation, cut.summarised, cut);
    return summariesIn(this.#memoryIn(state), sections);
  }

  undo(calls = 1): Promise<readonly SessionTurn[]> {
    return this.#move(() => undoCalls(this.thread, calls));
  }

  async pop(): Promise<SessionTurn | null> {
    return (await this.undo())[0] ?? null;
  }

  redo(calls = 1): Promise<readonly SessionTurn[]> {
    return this.#move(() => redoCalls(this.thread, calls));
  }

  async reset(): Promise<void> {
    await this.#ready();
    await this.thread.clear();
  }

  async addTurn(exchange: GivenExchange): Promise<void> {
    const drafts = exchangesGiven("the turn", [exchange]).flatMap(draftsOf);
    await this.#ready();
    await this.thread.addTurn(drafts);
  }

  async fork(turn?: number): Promise<BoundSession> {
    await this.#ready();
    const { thread } = await this.thread.fork(turn === undefined ? {} : { turn });
    return this.#on(thread.id);
  }

  async checkpoint(name: string): Promise<void> {
    await this.#ready();
    await this.thread.checkpoint(name);
  }

  async restore(name: string): Promise<void> {
    const names = (await this.checkpoints()).map((checkpoint) => checkpoint.name);
    if (!names.includes(name))
      throw new RangeError(
        `the checkpoint ${JSON.stringify(name)} was not found; there are: ${names.join(", ") || "none"}`,
      );
    await this.thread.restore(name);
  }

  checkpoints(): Promise<readonly Checkpoint[]> {
    return this.thread.checkpoints();
  }

  swap(program: Program<never, object>, options: { readonly version?: string } = {}): void {
    this.#core.swap(program, options.version);
  }

  score<Gold>(metric: Metric<object, object, Gold>, options?: ScoreOptions<Gold>): Promise<readonly number[]> {
    return this.#records.score(metric, options);
  }

  examples<Gold>(options?: RecordedExampleOptions<object, object, Gold>): Promise<Examples> {
    return this.#records.examples(options);
  }

  promptOfTurn(turn: number): Promise<TurnPrompt | null> {
    return this.#records.promptOfTurn(turn);
  }

  save(): Promise<SavedSession> {
    return this.#records.save();
  }

  async trace(turn?: number): Promise<Trace | null> {
    const number = turn ?? (await this.turns()).at(-1)?.number;
    return number === undefined ? null : traceOf(this.#ground.host, this.thread.id, number, this.name);
  }

  async load(saved: unknown, options?: { readonly threadId?: string }): Promise<BoundSession> {
    return this.#on((await this.#ground.host.importJournal(journalIn(saved, options?.threadId), options)).id);
  }

  start(): void {
    this.#ground.host.start();
  }

  close(): Promise<void> {
    return this.#core.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #on(threadId: string): BoundSession {
    return new BoundSession(this.#core, this.#ground, { threadId, named: true }, null);
  }

  /** Moves the head, one move after the other: two at once would take back the same call. */
  #move<Moved>(move: () => Promise<Moved>): Promise<Moved> {
    return this.#ground.inOrder(`the head of ${this.thread.id}`, move);
  }

  #ready(): Promise<void> {
    return this.#core.ready(this.#ground, this.thread, {
      parentCreatedAt: null,
      beginning: async () => ({ metadata: {} }),
    });
  }

  #memoryIn(state: State): Memory {
    const { machine, options } = this.#core;
    const { messages } = promptOf(machine, state);
    return memoryOf(state.context.open === null ? messages : messages.slice(0, -1), mostShown(options));
  }

  async #state(): Promise<State> {
    return (await this.thread.state()) ?? this.#begun();
  }

  /** Returns the state of the thread, or the state that it will have at its first call. */
  async #begun(): Promise<State> {
    const isEpisode = this.#outer !== null && this.#core.options.lifespan === "episodic";
    const episodes = { threadId: this.#outer ?? "", node: this.name };
    const past = isEpisode ? await pastMemory(this.#ground.host, episodes, Number.POSITIVE_INFINITY) : "";
    const system = past === "" ? {} : { system: past };
    const seed = this.#core.seed.flatMap(draftsOf);
    return start(this.#core.machine, { threadId: this.thread.id, at: 0, seed, ...system }).state;
  }
}

/** Takes back the newest recorded calls, and the failed turns between them. Returns them, newest first. */
const undoCalls = async (thread: HostedThread, calls: number): Promise<readonly SessionTurn[]> => {
  checkCalls("undo", calls);
  const state = await thread.state();
  const undone = state === null || calls === 0 ? [] : turnsOf(state).filter(isRecorded).slice(-calls);
  const [oldest] = undone;
  if (oldest !== undefined) await thread.moveHead(oldest.parent);
  return undone.map(sessionTurn).reverse();
};

/**
 * Moves towards the newest call that continues from here, by `calls` calls or fewer if there are no more. Returns them,
 * newest first.
 */
const redoCalls = async (thread: HostedThread, calls: number): Promise<readonly SessionTurn[]> => {
  checkCalls("redo", calls);
  const redone: Turn[] = [];
  if ((await thread.state()) === null) return redone.map(sessionTurn);
  while (redone.length < calls) {
    const [next] = await thread.redo(1);
    if (next === undefined) break;
    if (isRecorded(next)) redone.unshift(next);
  }
  return redone.map(sessionTurn);
};

const checkCalls = (name: string, calls: number): void => {
  if (!(Number.isSafeInteger(calls) && calls >= 0))
    throw new RangeError(`${name}: the number of calls is ${calls}; it must be a whole number, 0 or more`);
};
