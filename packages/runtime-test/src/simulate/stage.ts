import { ContextUnfitError, createHost, declarationsOf, type Host, memoryStore, type Tool } from "@colloquy/host";
import { type ConversationMachine, conversationMachine, type Entry, type State } from "@colloquy/machine";
import { checkJournal, checkLiveState, checkUsage } from "./checks/journal.ts";
import { type PromptRules, rulesOf } from "./checks/prompts.ts";
import { checkContinuation, checkQuestions } from "./checks/questions.ts";
import { checkRecovered, checkResumption } from "./checks/recovery.ts";
import { checkWait, holderOf, isBeingWritten } from "./checks/summaries.ts";
import { faultsOf } from "./faults.ts";
import { madeUpContext } from "./made-up-context.ts";
import { madeUpActions, madeUpMachine, madeUpThread } from "./made-up-script.ts";
import { madeUpReply } from "./made-up-reply.ts";
import { checkReported, hooksIn } from "./simulated-hooks.ts";
import { ProcessStore } from "./process-store.ts";
import type { SimulatedProcess } from "./process.ts";
import { Processes } from "./processes.ts";
import { RepeatedAnswers } from "./repeated-answers.ts";
import type { SimulateOptions, Simulation } from "./simulate.ts";
import { modelIn } from "./simulated-model.ts";
import { simulatedTools, toolsIn } from "./simulated-tools.ts";
import { ToolLedger } from "./tool-ledger.ts";
import { User } from "./user.ts";
import { WatchedJournal } from "./watched-journal.ts";
import { World } from "./world.ts";

/** All that takes part in one simulation, and its course. */
export class Stage {
  readonly #world: World;
  readonly #tools: readonly Tool[];
  readonly #journal: WatchedJournal;
  readonly #ledger: ToolLedger = new ToolLedger();
  readonly #processes: Processes;
  readonly #user: User;
  readonly #answers: RepeatedAnswers;
  readonly #options: SimulateOptions;
  /** Of the configuration that processes start with. */
  #revision = 0;

  constructor(options: SimulateOptions) {
    const { seed, script, createStore = memoryStore } = options;
    const world = new World(seed, faultsOf(options.faults ?? {}), options.crashAt ?? []);
    this.#options = options;
    this.#world = world;
    this.#tools = script?.tools ?? simulatedTools;
    this.#journal = new WatchedJournal(world, createStore({ clock: world.clock }), rulesIn(options), (entry) =>
      this.#written(entry),
    );
    this.#processes = new Processes(
      world,
      (process, owner) => this.#hostIn(process, owner),
      (dead) => this.#user.lost(dead),
    );
    this.#user = new User(world, this.#processes, threadId);
    this.#answers = new RepeatedAnswers(world, this.#processes, threadId);
  }

  async play(): Promise<Simulation> {
    const world = this.#world;
    const { seed, script } = this.#options;
    let journal: readonly Entry[] = [];
    const acts = async (): Promise<void> => {
      await this.#user.play(script?.actions ?? madeUpActions(seed));
      await this.#calmDown();
      await this.#goOn();
      journal = await this.#leave();
    };
    await world.run(acts());
    const { state, transitions } = this.#journal;
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
        processes: this.#processes.all.length,
      },
    };
  }

  #hostIn(process: SimulatedProcess, owner: string): Host {
    const world = this.#world;
    const names = this.#tools.map(({ declaration }) => declaration.name);
    const replyTo = this.#options.script?.reply ?? madeUpReply(world, [names[0] ?? "guess", ...names.slice(1)]);
    const { createHost: create = createHost, script } = this.#options;
    let drawn = 0;
    if (world.hits("reconfigure")) this.#revision++;
    return create({
      machine: this.#machineOf(this.#revision),
      store: new ProcessStore(world, process, this.#journal, (seq) => this.#opened(process, seq)),
      llm: modelIn(world, process, this.#journal, replyTo, (call, outcome) => this.#answers.swallowed(call, outcome)),
      tools: toolsIn(world, process, this.#journal, this.#ledger, this.#tools),
      clock: process.clock,
      ids: { draw: (kind) => `${process.name}-${kind}-${++drawn}` },
      owner,
      leaseTtlMs,
      idleMs,
      hooks: hooksIn(world, process),
      onObserverError: (error, where) => checkReported(world, error, where),
      observers: [{ entry: (entry) => this.#acknowledged(process, entry) }],
      thread: script === undefined ? madeUpThread(this.#options.seed) : (script.thread ?? {}),
    });
  }

  #written(entry: Entry): void {
    this.#answers.written(entry);
    if (!("decided" in entry)) return;
    checkWait(this.#world, this.#processes.all, this.#journal, entry);
  }

  #machineOf(revision: number): ConversationMachine {
    const { seed, script } = this.#options;
    if (script === undefined) return madeUpMachine(seed, revision);
    const tools = declarationsOf(this.#tools);
    return conversationMachine({ ...script.machine, tools, model: { ...script.machine?.model, revision } });
  }

  /** A host has read the journal. */
  #opened(process: SimulatedProcess, seq: number): void {
    process.knows = seq;
    checkResumption(this.#world, process, this.#journal, this.#tools);
  }

  /** A host takes an entry for stored. */
  #acknowledged(process: SimulatedProcess, entry: Entry): void {
    if (!process.alive) return;
    const stored = this.#journal.entries[entry.seq];
    if (stored !== entry && JSON.stringify(stored) !== JSON.stringify(entry)) {
      this.#world.breaks(
        "R3",
        `${process.name} takes entry ${entry.seq} (${entry.event.type}) for stored, and it is not`,
      );
    }
    process.knows = entry.seq;
    if (entry.seq % entriesBetweenLooks === 0) void this.#lookAtLiveState(process);
    process.crosses("after an entry");
  }

  /** M5, now and then on the way: comparing costs more than the entry did. */
  async #lookAtLiveState(process: SimulatedProcess): Promise<void> {
    if (process.knows !== this.#journal.entries.length - 1) return;
    const told = this.#journal.state;
    try {
      const live = await process.host.thread(threadId).state();
      if (process.alive) checkLiveState(this.#world, told, live);
    } catch (error) {
      if (process.alive) this.#world.breaks("settles", `the live state can't be had: ${String(error)}`);
    }
  }

  /** Nothing more goes wrong, and each question has its answer; a turn that goes nowhere is cancelled. */
  async #calmDown(): Promise<void> {
    const world = this.#world;
    world.calm = true;
    world.note("world", "calms down");
    await this.#processes.sendRivalAway();
    for (let tries = 0; !(await this.#user.settles(1_000)) || this.#isUnderWay(); tries++) {
      if (tries > 60) world.breaks("settles", "there are asks that never come to an end, and cancelling does not help");
      this.#user.send({ type: "cancel.requested", at: world.clock.now(), reason: "it takes too long" });
      await world.sleep(200);
    }
  }

  /** A turn may be open, or wait, that nobody asks about any more: who asked gave up where it could not be seen. */
  #isUnderWay(): boolean {
    const { state } = this.#journal;
    return state !== null && (state.context.open !== null || state.context.queue.length > 0);
  }

  /** M9: whatever happened, the conversation goes on. */
  async #goOn(): Promise<void> {
    const world = this.#world;
    const question = this.#user.ask(lastQuestion, lastAsk);
    await this.#user.settles(20_000);
    const { end } = question;
    // That there is no room for it was looked at when it was said.
    if (end === null || !("status" in end || end instanceof ContextUnfitError)) {
      world.breaks("M9", `after the end an ask comes to ${end === null ? "nothing" : `${end.name}: ${end.message}`}`);
      return;
    }
    const call = "turn" in end ? this.#journal.asked.get(`${threadId}/${end.turn}.1#1`) : undefined;
    const before = this.#journal.askedUpon.get(lastAsk);
    const after = this.#journal.state;
    if (before !== undefined && after !== null && call?.type === "callLlm")
      checkContinuation(world, before, after, call);
    await this.#finishSummaries();
    checkLiveState(world, this.#journal.state, await this.#liveState());
    const { outstanding } = this.#journal;
    if (outstanding.length > 0) {
      world.breaks("settles", `at the end there is still outstanding: ${outstanding.map(({ id }) => id).join(", ")}`);
    }
  }

  /** As a process tells it that lives for long enough. */
  async #liveState(): Promise<State | null> {
    const process = this.#processes.reachable();
    if (process === null) await this.#world.sleep(50);
    else {
      const state = await Promise.race([process.host.thread(threadId).state(), process.died]);
      if (state !== undefined) return state;
    }
    return this.#liveState();
  }

  /**
   * Summaries that were asked for come, or fail. One whose handler never answers stays out, as does one whose process
   * died, and costs nobody an answer; whoever takes the thread up next has it written again.
   */
  async #finishSummaries(): Promise<void> {
    if (await this.#summariesEnd()) return;
    const { newestToken } = this.#journal;
    const last = this.#processes.all.find(({ opening }) => opening?.token === newestToken);
    const holder = holderOf(this.#processes.all, this.#journal);
    if (holder === undefined && last?.alive === true) {
      this.#world.breaks("settles", `${last.name} has let the thread go, and with it a summary that was being written`);
    }
    if (holder !== undefined && !isBeingWritten(holder, this.#journal)) {
      this.#world.breaks("settles", `a summary is outstanding at the end, and ${holder.name} does not write it`);
    }
    if (holder !== undefined) this.#processes.replace();
    this.#user.ask(lastQuestion, lastAsk);
    await this.#user.settles(20_000);
    await this.#summariesEnd();
  }

  async #summariesEnd(): Promise<boolean> {
    const isWriting = (): boolean => this.#journal.state?.context.summarising !== null;
    for (let looks = 0; looks < looksMax && isWriting(); looks++) await this.#world.sleep(50);
    return !isWriting();
  }

  /** All hosts are closed, and what they leave behind is looked at. */
  async #leave(): Promise<readonly Entry[]> {
    const world = this.#world;
    await this.#processes.close();
    await this.#checkGivenBack();
    // What is deaf, or stands still, comes to its end.
    await world.sleep(5_000);
    for (const process of this.#processes.all) checkClosed(world, process);
    const entries = checkJournal(world, this.#journal, this.#machineOf(0), await this.#journal.store.read(threadId));
    const { brokenByPrompts } = this.#journal;
    if (brokenByPrompts !== null) world.breaks(...brokenByPrompts);
    checkUsage(world, this.#journal);
    checkRecovered(world, this.#journal, this.#ledger, this.#tools);
    checkQuestions(world, this.#journal, this.#user.questions);
    return entries;
  }

  /** Whoever closes gives the thread back; that of a dead process has to run out. */
  async #checkGivenBack(): Promise<void> {
    const { newestToken, store } = this.#journal;
    const holder = this.#processes.all.find(({ opening }) => opening?.token === newestToken);
    if (holder?.alive !== true || (await store.acquire(threadId, "inspector", leaseTtlMs)) !== null) return;
    this.#world.breaks("settles", `${holder.name} was closed, and still holds the thread`);
  }
}

const checkClosed = (world: World, process: SimulatedProcess): void => {
  if (!process.alive) return;
  if (process.unsettled.size > 0) {
    world.breaks(
      "settles",
      `${process.name} was closed, and ${process.unsettled.size} calls of it never came to an end`,
    );
  }
  if (process.alarms > 0)
    world.breaks("settles", `${process.name} was closed, and still waits for ${process.alarms} wake-ups`);
};

/** Short, so that they run out. */
const leaseTtlMs = 600;
const idleMs = 150;

const entriesBetweenLooks = 8;

/** Far longer than all summaries take that may be wanted one after the other. */
const looksMax = 100;

const threadId = "simulated";
const lastQuestion = "Are you still there?";
const lastAsk = "the last ask";

/** What prompts are held to. */
const rulesIn = ({ seed, script }: SimulateOptions): PromptRules => {
  if (script !== undefined) return rulesOf(script.machine ?? {}, { isOurs: false, findsRoom: false });
  const context = madeUpContext(seed);
  return rulesOf(context?.options ?? {}, { isOurs: true, findsRoom: context?.findsRoom ?? false });
};
