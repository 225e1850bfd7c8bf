import { declarationsOf, type Tool } from "@colloquy/host";
import type { AnswerableEffect, CallTool, Entry, LaterEntry, StartTimer, ToolRecovery } from "@colloquy/machine";
import { LawBroken } from "../../laws/evidence/law-broken.ts";
import { requireByTable } from "../../laws/host/recovery.ts";
import { callersAnswer } from "../script/made-up-reply.ts";
import type { SimulatedProcess, ToolLedger } from "../world/process.ts";
import type { World } from "../world/world.ts";
import { undisturbed, type WatchedJournal } from "./watched-journal.ts";

/** Looks whether a process that has just read the journal takes up what was outstanding, by the table of `lawRecovery`. */
export const checkResumption = (process: SimulatedProcess, journal: WatchedJournal, tools: readonly Tool[]): void => {
  const { opening } = process;
  const { world } = journal;
  const isUndisturbed = undisturbed(process, journal);
  if (opening === null || isUndisturbed === null) return;
  const now = world.clock.now();
  // A turn whose time has passed ends instead, and so does the wait for a summary.
  if (journal.outstanding.some((effect) => endsSomething(effect) && effect.dueAt <= now)) return;
  for (const effect of journal.outstanding) {
    if (effect.type === "startTimer" || (effect.type === "callTool" && waits(tools, effect.name))) continue;
    if (effect.type === "requestApproval" || isCallers(effect)) continue;
    const isToRun = effect.type !== "callTool" || runsAgain(recoveryOf(tools, effect.name), effect);
    world.clock.wakeAt(now + (effect.type === "callTool" ? longestToolMs : longestHookMs), () => {
      if (!isUndisturbed() || (isToRun && opening.performed.has(effect.id))) return;
      if (!journal.outstanding.some(({ id }) => id === effect.id)) return;
      world.breaks(
        "R2",
        `${process.name} took the thread up, and ${isToRun ? "did not perform" : "did not answer"} "${effect.id}"`,
      );
    });
  }
};

/** Looks at what was recovered, and at what was run how often. */
export const checkRecovered = (journal: WatchedJournal, ledger: ToolLedger, tools: readonly Tool[]): void => {
  const { world } = journal;
  for (const entry of journal.entries) {
    if ("recovered" in entry) checkEntry(journal, entry, tools);
  }
  for (const [key, runs] of ledger.runs) {
    const tool = runs[0]?.tool ?? "";
    const recovery = recoveryOf(tools, tool);
    if (recovery !== "rerun" && runs.length > 1) {
      world.breaks("R2", `${tool} (${key}) ran ${runs.length} times, and its recovery is "${recovery}"`);
    }
    const answer = journal.answers.get(key)?.event;
    if (answer?.type === "tool.completed" && !runs.some(({ returned }) => returned === answer.content)) {
      world.breaks(
        "R3",
        `the result of ${tool} (${key}) is ${JSON.stringify(answer.content)}, which it never returned`,
      );
    }
    if (answer?.type === "tool.failed" && answer.outcome === "refused") {
      world.breaks("R1", `${tool} (${key}) ran, and its result says that it was refused`);
    }
  }
  for (const [key, { event }] of journal.answers) {
    const asked = journal.asked.get(key);
    if (asked !== undefined && isCallers(asked)) {
      if (ledger.of(key).length > 0) world.breaks("R1", `"${key}" is the caller's, and something ran`);
      if (event.type === "tool.completed" && event.content !== callersAnswer({ id: key }))
        world.breaks("R3", `the result of "${key}" is ${JSON.stringify(event.content)}, which the caller never gave`);
    } else if (event.type === "tool.completed" && ledger.of(key).length === 0) {
      world.breaks("R3", `"${key}" has a result, and nothing ran`);
    }
  }
};

const checkEntry = ({ world, entries }: WatchedJournal, entry: Entry, tools: readonly Tool[]): void => {
  // What had been shown of a reply is kept instead of asking again, where that is chosen.
  if (entry.event.type === "llm.failed" && entry.event.partial !== undefined) return;
  try {
    requireByTable(entries.slice(0, entry.seq), entry, declarationsOf(tools));
  } catch (thrown) {
    if (!(thrown instanceof LawBroken)) throw thrown;
    world.breaks("R2", thrown.message);
  }
};

const isCallers = (effect: AnswerableEffect): boolean => effect.type === "callTool" && effect.by === "caller";

/** An undeclared tool has the default rule. */
const recoveryOf = (tools: readonly Tool[], name: string): ToolRecovery =>
  tools.find(({ declaration }) => declaration.name === name)?.declaration.recovery ?? "interrupted";

/** Whether its calls wait for each other, for a time that is not known. */
const waits = (tools: readonly Tool[], name: string): boolean =>
  tools.some(({ declaration }) => declaration.name === name && declaration.concurrency !== undefined);

const endsSomething = (effect: AnswerableEffect): effect is StartTimer =>
  effect.type === "startTimer" && (effect.purpose === "deadline" || effect.purpose === "summary");

const runsAgain = (recovery: ToolRecovery, { started, approval }: CallTool): boolean =>
  approval !== "required" && (recovery === "rerun" || (recovery !== "interrupted" && !started));

/** Longer than a model call waits for hooks, and for inbox items that are looked for at the opening. */
const longestHookMs = 400;
/** Longer than a tool waits for its entry and for hooks. */
const longestToolMs = 1_000;

/** Checks that a call's wait for a summary ends when its time is over, whatever happened to the summary. */
export const checkWait = (
  world: World,
  processes: readonly SimulatedProcess[],
  journal: WatchedJournal,
  { seq, decided }: LaterEntry,
): void => {
  const dueAt = decided?.compacting?.dueAt;
  const process = holderOf(processes, journal);
  const isUndisturbed = process === undefined ? null : undisturbed(process, journal);
  if (dueAt === undefined || isUndisturbed === null) return;
  // An ask that was made long before it was accepted may have waited long enough already.
  world.clock.wakeAt(Math.max(dueAt, world.clock.now()) + longestAppendMs, () => {
    const stage = journal.state?.context.open?.stage;
    if (stage?.type !== "compacting" || stage.dueAt !== dueAt || !isUndisturbed()) return;
    world.breaks("settles", `since entry ${seq} a call waits for a summary, and does so after its time is over`);
  });
};

/** Returns the process that holds the thread; undefined while none does, so that no work is done for it. */
export const holderOf = (
  processes: readonly SimulatedProcess[],
  { newestToken }: WatchedJournal,
): SimulatedProcess | undefined =>
  processes.find(({ alive, opening }) => alive && opening?.token === newestToken && !opening.over);

/** Returns whether a handler still writes the outstanding summary. */
export const isBeingWritten = ({ work }: SimulatedProcess, { outstanding }: WatchedJournal): boolean =>
  [...work].some(
    ({ id, type, signal }) => type === "summary" && !signal.aborted && outstanding.some((effect) => effect.id === id),
  );

/** Longer than a few slow writes of entries. */
const longestAppendMs = 300;
