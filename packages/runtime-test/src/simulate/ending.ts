import { ContextUnfitError, LimitReachedError, type Tool } from "@colloquy/host";
import type { ConversationMachine, Entry, State } from "@colloquy/machine";
import type { AskEnd } from "./script/question.ts";
import { checkJournal, checkLiveState, checkUsage } from "./checks/journal.ts";
import { checkAsks, checkContinuation, checkQuestions } from "./checks/questions.ts";
import { checkRecovered } from "./checks/recovery.ts";
import { holderOf, isBeingWritten } from "./checks/summaries.ts";
import type { SimulatedProcess } from "./world/process.ts";
import type { User } from "./parts/user.ts";
import type { Processes } from "./world/processes.ts";
import type { ToolLedger } from "./world/tool-ledger.ts";
import { threadId, type WatchedJournal } from "./checks/watched-journal.ts";
import type { World } from "./world/world.ts";

/** The participants of one simulation. */
export interface Cast {
  readonly world: World;
  readonly journal: WatchedJournal;
  readonly processes: Processes;
  readonly user: User;
  readonly ledger: ToolLedger;
  readonly tools: readonly Tool[];
  /** Returns the machine of processes with this revision of the configuration, from 0. */
  readonly machineOf: (revision: number) => ConversationMachine;
}

/**
 * The end of a simulation: no more faults happen, the conversation continues, all processes close, and the laws are
 * checked on what they leave.
 */
export class Ending {
  readonly #cast: Cast;

  constructor(cast: Cast) {
    this.#cast = cast;
  }

  async play(): Promise<readonly Entry[]> {
    await this.#calmDown();
    await this.#goOn();
    return this.#leave();
  }

  /** Waits until each question has its answer. A turn that makes no progress is cancelled. */
  async #calmDown(): Promise<void> {
    const { world, processes, user } = this.#cast;
    world.calm = true;
    world.note("world", "calms down");
    await processes.sendRivalAway();
    for (let tries = 0; !(await user.settles(1_000)) || this.#isUnderWay(); tries++) {
      if (tries > 60) world.breaks("settles", "there are asks that never come to an end, and cancelling does not help");
      user.send({ type: "cancel.requested", at: world.clock.now(), reason: "it takes too long" });
      await world.sleep(200);
    }
  }

  /** Returns whether a turn is open or queued. Its asker may have given up without a trace. */
  #isUnderWay(): boolean {
    const { state } = this.#cast.journal;
    return state !== null && (state.context.open !== null || state.context.queue.length > 0);
  }

  /** Checks M9: after any faults, the conversation continues. */
  async #goOn(): Promise<void> {
    const { world, user, journal } = this.#cast;
    const question = user.ask(lastQuestion, { askId: lastAsk });
    await user.settles(20_000);
    const { end } = question;
    if (end === null || !("status" in end || isByRight(end))) {
      world.breaks("M9", `after the end an ask comes to ${end === null ? "nothing" : `${end.name}: ${end.message}`}`);
      return;
    }
    const call = "turn" in end ? journal.asked.get(`${threadId}/${end.turn}.1#1`) : undefined;
    const before = journal.askedUpon.get(lastAsk);
    const after = journal.state;
    if (before !== undefined && after !== null && call?.type === "callLlm")
      checkContinuation(world, before, after, call);
    await this.#finishSummaries();
    checkLiveState(world, journal.state, await this.#liveState());
    const { outstanding } = journal;
    if (outstanding.length > 0) {
      world.breaks("settles", `at the end there is still outstanding: ${outstanding.map(({ id }) => id).join(", ")}`);
    }
  }

  /** Returns the live state of a process that lives long enough. */
  async #liveState(): Promise<State | null> {
    const { world, processes } = this.#cast;
    const process = processes.reachable();
    if (process === null) await world.sleep(50);
    else {
      const state = await Promise.race([process.host.thread(threadId).state(), process.died]);
      if (state !== undefined) return state;
    }
    return this.#liveState();
  }

  /**
   * Waits until the requested summaries succeed or fail. One whose handler never answers stays outstanding, as does one
   * whose process died, and costs no user an answer. The next owner of the thread has it written again.
   */
  async #finishSummaries(): Promise<void> {
    if (await this.#summariesEnd()) return;
    const { world, journal, processes, user } = this.#cast;
    const last = processes.all.find(({ opening }) => opening?.token === journal.newestToken);
    const holder = holderOf(processes.all, journal);
    if (holder === undefined && last?.alive === true && last.opening?.lapsed !== true) {
      world.breaks("settles", `${last.name} has let the thread go, and with it a summary that was being written`);
    }
    if (holder !== undefined && !isBeingWritten(holder, journal)) {
      world.breaks("settles", `a summary is outstanding at the end, and ${holder.name} does not write it`);
    }
    if (holder !== undefined) processes.replace();
    // A repeated ask would get its known answer without the thread being opened.
    user.ask(lastQuestion, { askId: `${lastAsk}, and one more` });
    await user.settles(20_000);
    await this.#summariesEnd();
  }

  async #summariesEnd(): Promise<boolean> {
    const { world, journal } = this.#cast;
    const isWriting = (): boolean => journal.state?.context.summarising !== null;
    for (let looks = 0; looks < looksMax && isWriting(); looks++) await world.sleep(50);
    return !isWriting();
  }

  /** Closes all hosts, and checks what they leave. */
  async #leave(): Promise<readonly Entry[]> {
    const { world, journal, processes, user, ledger, tools, machineOf } = this.#cast;
    await processes.close();
    await this.#checkGivenBack();
    // Deaf or paused processes end within this time.
    await world.sleep(5_000);
    for (const process of processes.all) checkClosed(world, process);
    const entries = checkJournal(world, journal, machineOf(0), await journal.store.read(threadId));
    const { brokenByPrompts } = journal;
    if (brokenByPrompts !== null) world.breaks(...brokenByPrompts);
    checkUsage(world, journal);
    checkRecovered(world, journal, ledger, tools);
    checkQuestions(world, journal, user.questions);
    checkAsks(world, journal);
    return entries;
  }

  /** Checks that a process that closes releases its lease; that of a dead process must expire. */
  async #checkGivenBack(): Promise<void> {
    const { newestToken, store } = this.#cast.journal;
    const holder = this.#cast.processes.all.find(({ opening }) => opening?.token === newestToken);
    if (holder?.alive !== true || (await store.acquire(threadId, "inspector", leaseTtlMs)) !== null) return;
    this.#cast.world.breaks("settles", `${holder.name} was closed, and still holds the thread`);
  }
}

/**
 * Returns whether an error is legitimate. That a prompt does not fit was checked when it was decided, and an ask may
 * have waited for the thread past its deadline.
 */
const isByRight = (end: AskEnd): boolean =>
  end instanceof ContextUnfitError || (end instanceof LimitReachedError && end.reached.limit === "deadlineMs");

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

/** Far longer than the longest series of summaries takes. */
const looksMax = 100;

const lastQuestion = "Are you still there?";
const lastAsk = "the last ask";

/** The duration of leases of the simulated hosts: short, so that they expire. */
export const leaseTtlMs = 600;
