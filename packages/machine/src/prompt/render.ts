import { type Blocks, messagesIn as joined, type PartOfRun } from "./blocks.ts";
import type { Message } from "../thread/message.ts";
import { isOnPath, PathWalk, turnOf, type Thread } from "../thread/thread.ts";
import { toArray } from "../thread/chunks.ts";
import type { Turn } from "../thread/turn.ts";
import type { Counts } from "./counts.ts";
import type { Cut, InterruptedTurns } from "./cut.ts";
import { withFields } from "./fields.ts";
import { isOlder, type UnitPosition } from "./position.ts";
import { needsQuestion, questionIn, questionsBefore } from "./question.ts";
import { appliesAt, type Shrink, shrinkMessage } from "./shrink.ts";
import { summaryMessage } from "./summary-message.ts";
import { type Unit, unitsOf } from "./unit.ts";

/** Shortens a message. A caller that renders often may cache the results. */
export type Shrinker = (message: Message, rules: readonly Shrink[]) => Message;

/**
 * Renders the messages of a prompt. First comes the system message, then turns shown as summaries, pinned messages of
 * older turns, the shown part of the closed turns, and the open turn. Units are shown or left out whole, so the result
 * is as well-formed as the thread. It reads only what it shows.
 */
export const render = (
  thread: Thread,
  cut: Cut,
  system: Message | null,
  open: readonly Message[],
): readonly Message[] => joined(blocksOf(thread, cut, system, open, null));

/** Renders the blocks of a prompt before they are joined. With counts it shows many turns at once. */
export const blocksOf = (
  thread: Thread,
  cut: Cut,
  system: Message | null,
  open: readonly Message[],
  counts: Counts | null,
): Blocks => {
  const pins = pinsOf(thread, cut.interrupted);
  const shrink = counts?.shrink ?? shrinkMessage;
  const how = showing(cut, shrink);
  const messages: (readonly Message[])[] = [openTurn(thread, cut, open, pins, shrink)];
  const turns: (Turn | PartOfRun | null)[] = [null];
  const show = (block: readonly Message[], whole: Turn | PartOfRun | null): void => {
    messages.push(block);
    turns.push(whole);
  };
  const { wholeFrom } = how;
  const first = cut.from?.turn ?? 0;
  const walk = new PathWalk(thread);
  for (let turn = walk.turn; turn !== undefined && turn.number >= first; turn = walk.turn) {
    const run = turn.number < wholeFrom ? undefined : walk.wholeRun();
    const whole = run === undefined ? undefined : counts?.together(run);
    if (run !== undefined && whole !== undefined && (whole.completed || cut.interrupted === "keep")) {
      const from = Math.max(0, wholeFrom - walk.runFrom);
      show(from === 0 ? whole.messages : whole.messages.slice(whole.starts[from]), { run, from });
      walk.leave(from);
      continue;
    }
    const leftOut = cut.interrupted === "omit" && isLeftOut(turn, cut);
    walk.step();
    if (leftOut || turn.number < wholeFrom) {
      show(shownOf(turn.number, toArray(turn.messages), how, leftOut, pins), null);
    } else show(toArray(turn.messages), turn);
  }
  const complete = walk.turn === undefined;
  if (complete && thread.seed.length > 0) show(shownOf(0, thread.seed, how, false, pins), null);
  if (!complete && pins.size > 0) for (const block of pinnedBefore(thread, cut, pins)) show(block, null);
  const question = leadingQuestion(thread, messages, how);
  if (question !== null) insertQuestion(thread, { messages, turns }, question);
  const summary = cut.summarised === undefined ? null : summaryMessage(thread, cut);
  if (summary !== null) show([summary], null);
  if (system !== null && cut.system === undefined) show([system], null);
  return { messages, turns };
};

/** A cut prepared for showing units. */
export interface Showing {
  readonly cut: Cut;
  readonly dropped: ReadonlySet<string> | null;
  readonly shrink: Shrinker;
  /** From this turn on, closed turns are shown unchanged, except those left out because they were interrupted. */
  readonly wholeFrom: number;
}

/** Prepares a cut for showing units. */
export const showing = (cut: Cut, shrink: Shrinker = shrinkMessage): Showing => ({
  cut,
  dropped: cut.dropped === undefined ? null : new Set(cut.dropped),
  shrink,
  wholeFrom: firstWhole(cut),
});

/**
 * Returns the shown messages of each unit of a closed turn. Its question is shown if any later unit is, whatever the
 * cut says.
 */
export const showUnits = (
  turn: number,
  units: readonly Unit[],
  how: Showing,
  leftOut = false,
): readonly (readonly Message[])[] => {
  const shown = units.map((unit) => showUnit(unit, how, leftOut));
  const question = questionIn(turn, units);
  if (question === undefined || !shown.some(({ length }, index) => length > 0 && index > question.position))
    return shown;
  return shown.with(question.position, showUnit(question, uncut(how)));
};

/** Removes what a cut leaves out, and keeps how it shows the rest. */
const uncut = ({ cut, ...how }: Showing): Showing => ({ ...how, dropped: null, cut: { ...cut, from: null } });

/**
 * Returns the question that leads a prompt which would begin with a model's message. Returns null if none is needed,
 * or if there is none.
 */
export const leadingQuestion = (
  thread: Thread,
  newestFirst: readonly (readonly Message[])[],
  how: Showing,
): Pick<Unit, "id" | "messages"> | null => {
  const first = firstSaid(newestFirst);
  if (first === undefined || first.role === "user") return null;
  // Ids begin with the number of their turn.
  const turn = Number.parseInt(first.id, 10);
  const position = turn === 0 ? unitsOf(0, thread.seed).findIndex(({ id }) => id === first.id) : 0;
  for (const unit of questionsBefore(thread, { turn, position }, how.cut.interrupted)) {
    const messages = showUnit(unit, uncut(how));
    if (messages.length > 0) return { id: unit.id, messages };
  }
  return null;
};

/** Inserts the question at its place in the thread: system messages appended before it stay before it. */
const insertQuestion = (
  thread: Thread,
  shown: { readonly messages: (readonly Message[])[]; readonly turns: Blocks["turns"][number][] },
  question: Pick<Unit, "id" | "messages">,
): void => {
  const isOlder = (message: Message): boolean => {
    const [turn, other] = [Number.parseInt(message.id, 10), Number.parseInt(question.id, 10)];
    return turn < other || (turn === other && placeIn(thread, message.id) < placeIn(thread, question.id));
  };
  // Blocks are newest first, so this starts with the oldest.
  for (let block = shown.messages.length - 1; block >= 0; block--) {
    const messages = shown.messages[block] ?? [];
    const before = messages.findIndex((message) => !isOlder(message));
    if (before < 0) continue;
    const parts = [messages.slice(before), question.messages, messages.slice(0, before)];
    shown.messages.splice(block, 1, ...parts);
    shown.turns.splice(block, 1, before === 0 ? (shown.turns[block] ?? null) : null, null, null);
    return;
  }
};

/** Returns the index of a seed message. All other messages of a question's own turn come after it, so they get -1. */
const placeIn = ({ seed }: Thread, id: string): number => seed.findIndex((message) => message.id === id);

const firstSaid = (newestFirst: readonly (readonly Message[])[]): Message | undefined => {
  for (let block = newestFirst.length - 1; block >= 0; block--) {
    const messages = newestFirst[block] ?? [];
    // By index: the lists are frozen, and may be long.
    for (let index = 0; index < messages.length; index++) {
      const message = messages[index];
      if (message !== undefined && message.role !== "system" && message.role !== "developer") return message;
    }
  }
  return undefined;
};

/** Returns the shown messages of a unit of a closed turn; empty if it is left out. */
export const showUnit = (unit: Unit, { cut, dropped, shrink }: Showing, leftOut = false): readonly Message[] => {
  if (unit.pinned === true) return unit.messages;
  const position = { turn: unit.turn, unit: unit.position };
  if (leftOut || isCutOff(position, cut) || dropped?.has(unit.id) === true) return [];
  const { fields } = cut;
  const shown =
    fields === undefined ? unit.messages : unit.messages.flatMap((message) => withFields(message, fields) ?? []);
  return shrunk(shown, position, cut, shrink);
};

/** Returns whether a cut leaves out a turn because it was interrupted. */
export const isLeftOut = (turn: Turn, cut: Pick<Cut, "interrupted">): boolean =>
  cut.interrupted === "omit" && turn.outcome.status !== "completed";

/** Returns whether a position is older than everything that a cut shows. */
export const isCutOff = (position: UnitPosition, { from }: Cut): boolean => isOlder(position, from);

/** Returns the ids of pinned messages on the path, by turn, with the questions that belong to them. */
export const pinsOf = (thread: Thread, interrupted: InterruptedTurns): Pins => {
  const pins = new Map<number, Set<string>>();
  const pin = (turn: number, message: string): void => void pins.set(turn, (pins.get(turn) ?? new Set()).add(message));
  for (const { turn, message } of thread.pins) {
    const isClosed = turn <= thread.turns.length;
    if (isClosed && !isOnPath(thread, turn)) continue;
    pin(turn, message);
    const question = isClosed ? questionOfPinned(thread, turn, message, interrupted) : undefined;
    if (question !== undefined) pin(question.turn, question.id);
  }
  return pins;
};

const questionOfPinned = (
  thread: Thread,
  turn: number,
  message: string,
  interrupted: InterruptedTurns,
): Unit | undefined => {
  const units = unitsOf(turn, messagesIn(thread, turn));
  const pinned = units.find(({ messages }) => messages.some(({ id }) => id === message));
  if (pinned === undefined) return undefined;
  const question = questionIn(turn, units);
  if (question !== undefined && question.position < pinned.position) return question;
  return needsQuestion(pinned) ? (questionsBefore(thread, pinned, interrupted).next().value ?? undefined) : undefined;
};

const messagesIn = (thread: Thread, turn: number): readonly Message[] => {
  const closed = turnOf(thread, turn);
  return turn === 0 ? thread.seed : closed === undefined ? [] : toArray(closed.messages);
};

export type Pins = ReadonlyMap<number, ReadonlySet<string>>;

/** Returns the units with a pinned message in a closed turn, or in the seed. */
export const pinnedUnits = (thread: Thread, pins: Pins, turn: number): readonly Unit[] =>
  unitsOf(turn, messagesIn(thread, turn), pins.get(turn)).filter(({ pinned }) => pinned === true);

const shrunk = (
  messages: readonly Message[],
  position: UnitPosition,
  cut: Cut,
  shrink: Shrinker,
): readonly Message[] => {
  const rules = cut.shrink?.filter((rule) => appliesAt(rule, position)) ?? [];
  return rules.length === 0 ? messages : messages.map((message) => shrink(message, rules));
};

const openTurn = (
  thread: Thread,
  cut: Cut,
  open: readonly Message[],
  pins: Pins,
  shrink: Shrinker,
): readonly Message[] => {
  if (cut.shrink === undefined) return open;
  const turn = thread.turns.length + 1;
  return unitsOf(turn, open, pins.get(turn)).flatMap((unit) =>
    unit.pinned === true ? unit.messages : shrunk(unit.messages, { turn, unit: unit.position }, cut, shrink),
  );
};

const shownOf = (
  turn: number,
  messages: readonly Message[],
  how: Showing,
  leftOut: boolean,
  pins: Pins,
): readonly Message[] => {
  const pinned = pins.get(turn);
  if (leftOut && pinned === undefined) return [];
  if (!leftOut && turn >= how.wholeFrom) return messages;
  return showUnits(turn, unitsOf(turn, messages, pinned), how, leftOut).flat();
};

const firstWhole = ({ from, dropped, fields, shrink }: Cut): number => {
  if (dropped !== undefined || fields !== undefined) return Number.POSITIVE_INFINITY;
  let first = from === null ? 0 : from.unit === 0 ? from.turn : from.turn + 1;
  for (const { before } of shrink ?? []) {
    if (before === undefined) return Number.POSITIVE_INFINITY;
    first = Math.max(first, before.unit === 0 ? before.turn : before.turn + 1);
  }
  return first;
};

/** Returns the pinned messages of turns that the cut leaves out, newest first, as blocks are. */
const pinnedBefore = (thread: Thread, { from }: Cut, pins: Pins): readonly (readonly Message[])[] =>
  [...pins.keys()]
    .filter((turn) => from !== null && turn < from.turn)
    .sort((left, right) => right - left)
    .map((turn) => pinnedUnits(thread, pins, turn).flatMap(({ messages }) => messages));
