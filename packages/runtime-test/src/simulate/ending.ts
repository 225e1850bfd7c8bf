import { ContextUnfitError, LimitReachedError, type Tool } from "@colloquy/host";
import type { ConversationMachine, Entry, State } from "@colloquy/machine";
import type { AskEnd } from "./script/question.ts";
import { checkJournal, checkLiveState, checkUsage } from "./checks/journal.ts";
import { checkAsks, checkContinuation, checkQuestions } from "./checks/questions.ts";
import { checkRecovered, holderOf, isBeingWritten } from "./checks/recovery.ts";
import type { SimulatedProcess, ToolLedger, Processes } from "./world/process.ts";
import type { User } from "./parts/user.ts";
import { threadId, type WatchedJournal } from "./checks/watched-journal.ts";
import type { World } from "./world/world.ts";

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

/** Plays the end: faults stop, the conversation continues, all processes close, and the laws are checked. */
export const playEnding = async (cast: Cast): Promise<readonly Entry[]> => {
  await calmDown(cast);
  await goOn(cast);
  return leave(cast);
};

/** Waits until each question has its answer. A turn that makes no progress is cancelled. */
const calmDown = async (cast: Cast): Promise<void> => {
  const { world, processes, user } = cast;
  world.calm = true;
  world.note("world", "calms down");
  await processes.sendRivalAway();
  for (let tries = 0; !(await user.settles(1_000)) || isUnderWay(cast); tries++) {
    if (tries > 60) world.breaks("settles", "there are asks that never come to an end, and cancelling does not help");
    user.send({ type: "cancel.requested", at: world.clock.now(), reason: "it takes too long" });
    await world.sleep(200);
  }
};

/** Returns whether a turn is open or queued. Its asker may have given up without a trace. */
const isUnderWay = (cast: Cast): boolean => {
  const { state } = cast.journal;
  return state !== null && (state.context.open !== null || state.context.queue.length > 0);
};

/** Checks M9: after any faults, the conversation continues. */
const goOn = async (cast: Cast): Promise<void> => {
  const { world, user, journal } = cast;
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
  if (before !== undefined && after !== null && call?.type === "callLlm") checkContinuation(world, before, after, call);
  await finishSummaries(cast);
  checkLiveState(world, journal.state, await liveState(cast));
  const { outstanding } = journal;
  if (outstanding.length > 0) {
    world.breaks("settles", `at the end there is still outstanding: ${outstanding.map(({ id }) => id).join(", ")}`);
  }
};

/** Returns the live state of a process that lives long enough. */
const liveState = async (cast: Cast): Promise<State | null> => {
  const { world, processes } = cast;
  const process = processes.reachable();
  if (process === null) await world.sleep(50);
  else {
    const state = await Promise.race([process.host.thread(threadId).state(), process.died]);
    if (state !== undefined) return state;
  }
  return liveState(cast);
};

/**
 * Waits until the requested summaries succeed or fail. One whose handler never answers stays outstanding, as does one
 * whose process died, and costs no user an answer. The next owner of the thread has it written again.
 */
const finishSummaries = async (cast: Cast): Promise<void> => {
  if (await summariesEnd(cast)) return;
  const { world, journal, processes, user } = cast;
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
  await summariesEnd(cast);
};

const summariesEnd = async ({ world, journal }: Cast): Promise<boolean> => {
  const isWriting = (): boolean => journal.state?.context.summarising !== null;
  for (let looks = 0; looks < looksMax && isWriting(); looks++) await world.sleep(50);
  return !isWriting();
};

const leave = async (cast: Cast): Promise<readonly Entry[]> => {
  const { world, journal, processes, user, ledger, tools, machineOf } = cast;
  await processes.close();
  await checkGivenBack(cast);
  // Deaf or paused processes end within this time.
  await world.sleep(5_000);
  for (const process of processes.all) checkClosed(world, process);
  const entries = checkJournal(journal, machineOf(0), await journal.store.read(threadId));
  const { brokenByPrompts } = journal;
  if (brokenByPrompts !== null) world.breaks(...brokenByPrompts);
  checkUsage(world, journal);
  checkRecovered(journal, ledger, tools);
  checkQuestions(world, journal, user.questions);
  checkAsks(world, journal);
  return entries;
};

/** Checks that a process that closes releases its lease; that of a dead process must expire. */
const checkGivenBack = async (cast: Cast): Promise<void> => {
  const { newestToken, store } = cast.journal;
  const holder = cast.processes.all.find(({ opening }) => opening?.token === newestToken);
  if (holder?.alive !== true || (await store.acquire(threadId, "inspector", leaseTtlMs)) !== null) return;
  cast.world.breaks("settles", `${holder.name} was closed, and still holds the thread`);
};

/** Returns whether an error is legitimate: it was checked before, or an ask waited past its deadline. */
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
