import {
  createHost,
  declarationsOf,
  type Host,
  memoryStore,
  StoreError,
  type Tool,
  type HostOptions,
  type Hooks,
  type LlmOutcome,
  type Store,
} from "@colloquy/host";
import {
  type ConversationMachine,
  conversationMachine,
  type Entry,
  type State,
  type CallLlm,
  type Event,
} from "@colloquy/machine";
import { fold } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { People } from "./parts/people.ts";
import { checkLiveState } from "./checks/journal.ts";
import { type PromptRules, rulesOf } from "./checks/prompts.ts";
import { checkResumption, checkWait } from "./checks/recovery.ts";
import { type Cast, leaseTtlMs, playEnding } from "./ending.ts";
import { faultsOf, type Fault, type Faults } from "./world/faults.ts";
import { madeUpContext, madeUpActions, madeUpMachine, madeUpThread } from "./script/made-up-script.ts";
import { madeUpReply, simulatedTools } from "./script/made-up-reply.ts";
import { ProcessStore } from "./parts/process-store.ts";
import { type SimulatedProcess, ToolLedger, Processes } from "./world/process.ts";
import { modelIn, toolsIn } from "./parts/handlers.ts";
import { User } from "./parts/user.ts";
import { threadId, WatchedJournal } from "./checks/watched-journal.ts";
import { World, Random, SimulatedFailure } from "./world/world.ts";
import { LeaseLostError } from "@colloquy/host/store";
import type { Script } from "./script/script.ts";

/**
 * Simulates one conversation of the same host that users run, in virtual time, and checks the laws: during it, and when
 * all is calm again. Deterministic: the same options give the same trace and the same journal.
 *
 * @throws SimulationError with the seed that reproduces it; RangeError for invalid options.
 */
export const simulate = async (options: SimulateOptions): Promise<Simulation> => {
  const { seed } = options;
  if (!(Number.isSafeInteger(seed) && seed >= 0))
    throw new RangeError(`the seed is ${seed}; it must be a whole number from 0 to 2^53 - 1`);
  return new Stage(options).play();
};

class Stage implements Cast {
  readonly world: World;
  readonly tools: readonly Tool[];
  readonly journal: WatchedJournal;
  readonly ledger: ToolLedger = new ToolLedger();
  readonly processes: Processes;
  readonly user: User;
  readonly #answers: ReturnType<typeof repeatedAnswers>;
  readonly #people: People;
  readonly #options: SimulateOptions;
  /** The revision of the configuration with which processes start. */
  #revision = 0;

  constructor(options: SimulateOptions) {
    const { seed, script, createStore = memoryStore } = options;
    const world = new World(seed, faultsOf(options.faults ?? {}), options.crashAt ?? []);
    this.#options = options;
    this.world = world;
    this.tools = script?.tools ?? simulatedTools;
    this.journal = new WatchedJournal(world, createStore({ clock: world.clock }), rulesIn(options), (entry) =>
      this.#written(entry),
    );
    this.processes = new Processes(
      world,
      (process) => this.#hostIn(process),
      (dead) => this.user.lost(dead),
    );
    this.user = new User(world, this.processes);
    this.#answers = repeatedAnswers(world, this.processes);
    this.#people = new People(world, this.processes, this.journal);
  }

  async play(): Promise<Simulation> {
    const world = this.world;
    const { seed, script } = this.#options;
    let journal: readonly Entry[] = [];
    const acts = async (): Promise<void> => {
      await this.user.play(script?.actions ?? madeUpActions(seed));
      journal = await playEnding(this);
    };
    await world.run(acts());
    const { state, transitions } = this.journal;
    if (state === null) throw new Error("a simulation ended without a journal");
    return {
      seed,
      journal,
      trace: world.trace,
      state,
      counts: {
        faults: Object.fromEntries(world.hit),
        transitions: Object.fromEntries(transitions),
        steps: world.step,
        processes: this.processes.all.length,
      },
    };
  }

  #hostIn(process: SimulatedProcess): Host {
    const world = this.world;
    const names = this.tools.map(({ declaration }) => declaration.name);
    const replyTo = this.#options.script?.reply ?? madeUpReply(world, [names[0] ?? "guess", ...names.slice(1)]);
    const { createHost: create = createHost, script } = this.#options;
    let drawn = 0;
    if (world.hits("reconfigure")) this.#revision++;
    return create({
      machine: this.machineOf(this.#revision),
      store: new ProcessStore(world, process, this.journal, (seq) => this.#opened(process, seq)),
      llm: modelIn(process, this.journal, replyTo, (call, outcome) => this.#answers.swallowed(call, outcome)),
      tools: toolsIn(process, this.journal, this.ledger, this.tools),
      clock: process.clock,
      ids: { draw: (kind) => `${process.name}-${kind}-${++drawn}` },
      recovery: false,
      leaseTtlMs,
      idleMs,
      ...(script === undefined ? madeUpHost(this.#options.seed) : { pollMs: 20, ...script.host }),
      hooks: hooksIn(world, process),
      onObserverError: (error, where) => checkReported(world, error, where),
      observers: [
        {
          entry: (entry, thread) => {
            world.scribbling.given(entry);
            if (thread === threadId) this.#acknowledged(process, entry);
          },
          signal: (signal) => world.scribbling.given(signal),
          approval: (request) => world.scribbling.given(request),
          callToAnswer: (call) => world.scribbling.given(call),
        },
      ],
      thread: script === undefined ? madeUpThread(this.#options.seed) : (script.thread ?? {}),
    });
  }

  #written(entry: Entry): void {
    this.#answers.written(entry);
    this.#people.written();
    if (!("decided" in entry)) return;
    checkWait(this.world, this.processes.all, this.journal, entry);
  }

  readonly machineOf = (revision: number): ConversationMachine => {
    const { seed, script } = this.#options;
    if (script === undefined) return madeUpMachine(seed, revision);
    const tools = declarationsOf(this.tools);
    return conversationMachine({ ...script.machine, tools, model: { ...script.machine?.model, revision } });
  };

  #opened(process: SimulatedProcess, seq: number): void {
    process.knows = seq;
    checkResumption(process, this.journal, this.tools);
  }

  /** Checks that an entry which a host takes for stored is stored. */
  #acknowledged(process: SimulatedProcess, entry: Entry): void {
    if (!process.alive) return;
    const stored = this.journal.entries[entry.seq];
    if (stored?.redacted !== true && stored !== entry && JSON.stringify(stored) !== JSON.stringify(entry)) {
      this.world.breaks(
        "R3",
        `${process.name} takes entry ${entry.seq} (${entry.event.type}) for stored, and it is not`,
      );
    }
    process.knows = entry.seq;
    if (entry.seq % entriesBetweenLooks === 0) void this.#lookAtLiveState(process);
    process.crosses("after an entry");
  }

  /** Returns the fold up to the entry of a live state, which was read from the store later if the thread was closed. */
  #foldAt(live: State | null, looked: State | null): State | null {
    if (live === null || looked === null || live.context.seq <= looked.context.seq) return looked;
    const later = fold(this.journal.entries.slice(0, live.context.seq + 1));
    return Either.isRight(later) ? later.right : looked;
  }

  /** Checks M5 during the simulation, at intervals: the comparison costs more than an entry. */
  async #lookAtLiveState(process: SimulatedProcess): Promise<void> {
    if (process.knows !== this.journal.entries.length - 1 || this.journal.isRedacting) return;
    const folded = this.journal.state;
    try {
      const live = await process.host.thread(threadId).state();
      if (process.alive && !this.journal.isRedacting) checkLiveState(this.world, this.#foldAt(live, folded), live);
      this.world.scribbling.given(live);
    } catch (error) {
      // If the thread was closed meanwhile, it is read from the store, which may be unavailable.
      if (process.alive && !(error instanceof StoreError))
        this.world.breaks("settles", `the live state can't be had: ${String(error)}`);
    }
  }
}

const idleMs = 150;

const entriesBetweenLooks = 8;

const rulesIn = ({ seed, script }: SimulateOptions): PromptRules => {
  if (script !== undefined) return rulesOf(script.machine ?? {}, { isOurs: false, findsRoom: false });
  const context = madeUpContext(seed);
  return rulesOf(context?.options ?? {}, { isOurs: true, findsRoom: context?.findsRoom ?? false });
};

/** Returns the configuration of a seed's hosts: the same for all its processes. */
const madeUpHost = (
  seed: number,
): Pick<HostOptions, "whenHeld" | "pollMs" | "progressMs" | "partials" | "snapshotEvery"> => {
  const random = new Random(seed, "host");
  return {
    whenHeld: random.chance(0.75) ? "enqueue" : "reject",
    pollMs: random.pick([20, 50]),
    progressMs: random.pick([null, null, 10]),
    partials: random.pick(["askAgain", "keep"]),
    snapshotEvery: random.pick([0, 1, 5, 512]),
  };
};

/** Makes hooks, in every fourth conversation: without any, a host waits for nothing before it performs an effect. */
const hooksIn = (world: World, process: SimulatedProcess): Hooks => {
  if (!new Random(world.seed, "hooks").chance(0.25)) return {};
  const hook = async (...given: readonly unknown[]): Promise<void> => {
    if (!process.crosses("a hook")) return;
    world.scribbling.given(...given);
    if (world.hits("hookSlow")) await process.sleep(world.random.whole(1, 20));
    if (world.hits("hookThrows")) throw new SimulatedFailure("the hook is broken");
  };
  return {
    beforeTurn: hook,
    beforeStep: hook,
    beforeToolCall: hook,
    afterTurn: hook,
    afterStep: hook,
    afterToolCall: hook,
  };
};

/** Checks that an error which a host reports from the background was caused by a simulated fault. */
const checkReported = (world: World, error: unknown, where: string): void => {
  if (error instanceof SimulatedFailure || error instanceof StoreError || error instanceof LeaseLostError) return;
  if (where === "snapshot" && (world.hit.has("snapshotDamaged") || world.hasRewritten)) return;
  world.breaks(
    "settles",
    `${where} failed with an error that no hook threw: ${error instanceof Error ? error.stack : String(error)}`,
  );
};

/** Answers that arrive a second time, or when they are no longer awaited. */
const repeatedAnswers = (world: World, processes: Processes) => {
  /** @param seq of the entry that first recorded the answer; null if none did */
  const send = async (event: Event, seq: number | null): Promise<void> => {
    await world.sleep(world.random.whole(0, 120));
    const process = processes.reachable();
    if (process === null) return;
    process.note(`gets ${event.type} ${seq === null ? "late" : "once more"}`);
    try {
      const receipt = await process.host.thread(threadId).send(event);
      // For an inbox item the receipt names the earlier entry.
      if (seq !== null && receipt.handled && receipt.entry.seq !== seq)
        world.breaks("M6", `a repeated ${event.type} was taken`);
    } catch {
      // No process could accept it, which changes nothing: the answer was superfluous.
    }
  };
  return {
    /** May send an answer again after its entry was written. */
    written: ({ seq, event }: Entry): void => {
      if (event.type === "thread.started" || !answers.has(event.type) || !world.hits("repeatedAnswer")) return;
      void send(event, seq);
    },
    /** May send a model's answer to a dead process to another one. */
    swallowed: ({ id: effectId, promptDigest }: CallLlm, outcome: LlmOutcome): void => {
      if (outcome.type === "failed" || !world.hits("lateAnswer")) return;
      const { reply, finishReason } = outcome;
      const at = world.clock.now();
      void send({ type: "llm.completed", at, effectId, promptDigest, reply, finishReason }, null);
    },
  };
};

const answers: ReadonlySet<string> = new Set([
  "llm.completed",
  "llm.failed",
  "tool.completed",
  "tool.failed",
  "timer.fired",
  "tool.withheld",
  "approval.answered",
]);

/** The options of a simulation. */
export interface SimulateOptions {
  /** A whole number from 0 to 2^53 - 1, which determines everything that is random. */
  readonly seed: number;
  /** The script. Default: a conversation generated from the seed. */
  readonly script?: Script;
  /** How often each fault happens; absent ones as in `defaultFaults`. Default `defaultFaults`. */
  readonly faults?: Partial<Faults> | "none";
  /** Steps (crossings into or out of a host) at which the process dies, whatever the faults say. */
  readonly crashAt?: readonly number[];
  /** Makes the host to be tested from the simulated parts. Default: the host that users run. */
  readonly createHost?: (options: HostOptions) => Host;
  /** Makes the store under the faulty one. It must use this clock. Default `memoryStore`. */
  readonly createStore?: (options: Pick<HostOptions, "clock">) => Store;
}

/** A simulated conversation that broke no law. */
export interface Simulation {
  readonly seed: number;
  readonly journal: readonly Entry[];
  /** All events, a line each. The same seed gives the same text. */
  readonly trace: readonly string[];
  readonly state: State;
  readonly counts: SimulationCounts;
}

export interface SimulationCounts {
  /** How often each fault happened. */
  readonly faults: { readonly [Each in Fault]?: number };
  /** How often an event was handled in a state: `responding llm.completed`. */
  readonly transitions: { readonly [transition: string]: number };
  /** How many times a call entered or left a host. At each of these a process can die. */
  readonly steps: number;
  readonly processes: number;
}
