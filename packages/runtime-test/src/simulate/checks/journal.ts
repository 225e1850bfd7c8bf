import {
  type ConversationMachine,
  type Entry,
  type State,
  toArray,
  usageMonoid,
  type CallLlm,
  digestOfPrompt,
} from "@colloquy/machine";
import { decodeJournal, describeDecodeError, fold } from "@colloquy/machine/journal";
import { describeDifference, replay } from "@colloquy/machine/inspect";
import { lostEventIn } from "@colloquy/machine/hosting";
import * as Either from "fp-ts/lib/Either.js";
import { differenceOf, plain } from "../../laws/evidence/law-broken.ts";
import type { WatchedJournal } from "./watched-journal.ts";
import type { World } from "../world/world.ts";
import type { Tool } from "@colloquy/host";
import { checkPrompt } from "@colloquy/machine/policies";
import type { SimulatedProcess } from "../world/process.ts";

/** Checks that no stored entry is lost, that they fold to the observed state, and are decided so again. */
export const checkJournal = (
  journal: WatchedJournal,
  machine: ConversationMachine,
  stored: readonly unknown[],
): readonly Entry[] => {
  const { world } = journal;
  const decoded = decodeJournal(stored);
  if (Either.isLeft(decoded)) {
    world.breaks("M3", `the journal can't be read: ${describeDecodeError(decoded.left)}`);
    return [];
  }
  const entries = decoded.right;
  if (!isSame(stored, journal.entries)) world.breaks("R3", changedSince(journal.entries, stored));
  const folded = fold(entries);
  if (Either.isLeft(folded)) world.breaks("M5", `entry ${folded.left.seq}: ${folded.left.reason}`);
  else if (!isSame(folded.right, journal.state))
    world.breaks("M5", "the stored journal folds to another state than the entries did as they came");
  const lost = lostEventIn(entries);
  if (lost !== null) world.breaks("M5", `the journal could not be imported: entry ${lost.seq}: ${lost.reason}`);
  checkRedacted(journal, stored);
  // Redacted entries cannot be decided again: their words are gone.
  if (entries.some(({ redacted }) => redacted === true)) return entries;
  const replayed = replay(machine, entries);
  if (Either.isLeft(replayed)) world.breaks("R5", describeDifference(replayed.left));
  return entries;
};

/** Checks that redacted words are nowhere any more. */
const checkRedacted = ({ world, redacted }: WatchedJournal, stored: readonly unknown[]): void => {
  const text = JSON.stringify(stored);
  for (const words of redacted) {
    if (text.includes(JSON.stringify(words))) world.breaks("R3", `${JSON.stringify(words)} was redacted, and is there`);
  }
};

/** Checks M5: the live state is the fold of the journal. */
export const checkLiveState = (world: World, folded: State | null, live: State | null): void => {
  if (isSame(live, folded)) return;
  world.breaks(
    "M5",
    `the live state is not the fold of the journal:\n${JSON.stringify(live)}\n${JSON.stringify(folded)}`,
  );
};

/** Checks M8: the thread's usage is that of its turns and between them, and that of all calls in the journal. */
export const checkUsage = (world: World, { usage, state }: Pick<WatchedJournal, "usage" | "state">): void => {
  if (state === null) return;
  const { total, betweenTurns } = state.context.usage;
  const ofTurns = toArray(state.context.conversation.turns).map((turn) => turn.usage);
  const turns = ofTurns.reduce(usageMonoid.concat, betweenTurns);
  const is = JSON.stringify(total);
  for (const [what, sum] of Object.entries({ calls: JSON.stringify(usage), turns: JSON.stringify(turns) }))
    if (sum !== is) world.breaks("M8", `the thread's usage is ${is}, and its ${what} add up to ${sum}`);
};

const changedSince = (written: readonly Entry[], stored: readonly unknown[]): string => {
  if (written.length !== stored.length) return `${written.length} entries were written, and ${stored.length} are there`;
  const index = written.findIndex((entry, at) => !isSame(entry, stored[at]));
  return `entry ${index} was written as ${JSON.stringify(written[index])}, and is ${JSON.stringify(stored[index])}`;
};

/** Members from a store are sometimes in another order; the text is nearly always the same. */
const isSame = (left: unknown, right: unknown): boolean =>
  JSON.stringify(left) === JSON.stringify(right) || differenceOf(plain(left), plain(right)) === null;

export const checkModelCall = (process: SimulatedProcess, journal: WatchedJournal, call: CallLlm): void => {
  const { world } = journal;
  checkJournalled(process, journal, call.id);
  const asked = journal.asked.get(call.id);
  if (asked?.type === "callLlm" && asked.promptDigest !== call.promptDigest) {
    world.breaks(
      "R1",
      `"${call.id}" was journalled with the prompt ${asked.promptDigest}, and made with ${call.promptDigest}`,
    );
  }
  const problem = checkPrompt(call.messages);
  if (problem !== null) world.breaks("M10", `the prompt of "${call.id}", message ${problem.index}: ${problem.reason}`);
  if (digestOfPrompt(call.messages, call.output) !== call.promptDigest) {
    world.breaks("R5", `the prompt of "${call.id}" is not the one of its digest ${call.promptDigest}`);
  }
  // A summary may be written beside anything but another summary.
  const other = [...process.work].find(
    ({ type, signal }) => !signal.aborted && (type === "summary") === (call.purpose === "summary"),
  );
  if (other !== undefined) world.breaks("M7", `"${call.id}" was made while "${other.id}" was under way`);
};

export const checkToolCall = (
  process: SimulatedProcess,
  journal: WatchedJournal,
  { declaration }: Tool,
  key: string,
): void => {
  const { world } = journal;
  checkJournalled(process, journal, key);
  const { recovery } = declaration;
  const call = journal.asked.get(key);
  if (declaration.approval === "always" && call?.type === "callTool" && (call.approval ?? "required") === "required")
    world.breaks("R1", `${declaration.name} (${key}) runs, but was not approved`);
  if ((recovery === "once" || recovery === "ask") && !journal.started.has(key)) {
    world.breaks(
      "R1",
      `${declaration.name} (${key}) must not run again unseen, and runs before "tool.started" is journalled`,
    );
  }
  const other = [...process.work].find(({ type, signal }) => type === "answer" && !signal.aborted);
  if (other !== undefined) world.breaks("M7", `${declaration.name} (${key}) runs while "${other.id}" is under way`);
};

const checkJournalled = (process: SimulatedProcess, journal: WatchedJournal, id: string): void => {
  const { world } = journal;
  if (!journal.asked.has(id)) world.breaks("R1", `"${id}" is performed, and no entry of the journal asks for it`);
  const { opening } = process;
  if (opening === null) {
    world.breaks("R3", `"${id}" is performed by ${process.name}, which never held the thread`);
    return;
  }
  const performed = (opening.performed.get(id) ?? 0) + 1;
  opening.performed.set(id, performed);
  if (performed > 1) world.breaks("R2", `"${id}" is performed ${performed} times by ${process.name} under one lease`);
  if (process.clock.now() >= opening.until) {
    world.breaks("R3", `"${id}" is performed by ${process.name}, whose lease has run out`);
  }
  // A process that does not know the newest entry yet may still perform an effect that was requested before.
  const knows = process.knows === journal.entries.length - 1;
  if (knows && !journal.outstanding.some((effect) => effect.id === id)) {
    world.breaks("M6", `"${id}" is performed, and it is not outstanding any more`);
  }
};
