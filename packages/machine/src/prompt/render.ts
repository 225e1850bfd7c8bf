import { type Blocks, messagesIn as joined, type PartOfRun } from "./blocks.ts";
import type { Message } from "../thread/message.ts";
import { isOnPath, PathWalk, type Thread, turnOf } from "../thread/thread.ts";
import { toArray } from "../thread/chunks.ts";
import type { Turn } from "../thread/turn.ts";
import type { Counts } from "./counts.ts";
import { type Cut, withFields } from "./cut.ts";
import {
  type InterruptedTurns,
  isLeftOut,
  isOlder,
  needsQuestion,
  type Pins,
  questionIn,
  questionsBefore,
  saysNothing,
  type Unit,
  type UnitPosition,
  unitsOf,
} from "./unit.ts";
import { appliesAt, type Shrink, shrinkMessage } from "./shrink.ts";
import { summaryMessage } from "./summary-message.ts";

/** Shortens a message. A caller that renders often may cache the results. */
export type Shrinker = (message: Message, rules: readonly Shrink[]) => Message;

/** The parts of a prompt that no cut leaves out, and the thread. */
export interface PromptParts {
  readonly thread: Thread;
  readonly system: Message | null;
  /** The messages of the open turn; between turns, those that wait for the next one. */
  readonly open: () => readonly Message[];
  /** False between turns: the question is not asked yet. */
  readonly isOpen: () => boolean;
}

/**
 * Renders the messages of a prompt. First comes the system message, then turns shown as summaries, pinned messages of
 * older turns, the shown part of the closed turns, and the open turn. Units are shown or left out whole, so the result
 * is as well-formed as the thread. It reads only what it shows.
 */
export const render = (parts: PromptParts, cut: Cut): readonly Message[] => joined(blocksOf(parts, cut, null));

/** Renders the blocks of a prompt before they are joined. With counts it shows many turns at once. */
export const blocksOf = (parts: PromptParts, cut: Cut, counts: Counts | null): Blocks => {
  const { thread, system } = parts;
  const open = parts.open();
  let begins = parts.isOpen() ? { turn: thread.turns.length + 1, block: 0 } : null;
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
    const run = turn.number < wholeFrom ? undefined : walk.straightRun();
    const whole = run === undefined || !walk.isAtEnd ? undefined : counts?.together(run);
    if (run !== undefined && (cut.interrupted === "keep" || whole?.completed === true)) {
      const from = Math.max(0, wholeFrom - walk.runFrom);
      if (whole !== undefined)
        show(from === 0 ? whole.messages : whole.messages.slice(whole.starts[from]), { run, from });
      else {
        for (let index = turn.number - walk.runFrom; index >= from; index--) {
          const each = run[index];
          if (each !== undefined) show(toArray(each.messages), each);
        }
      }
      begins = { turn: walk.runFrom + from, block: messages.length - 1 };
      walk.leave(from);
      continue;
    }
    const leftOut = isLeftOut(turn, cut);
    walk.step();
    const isWhole = !leftOut && turn.number >= wholeFrom;
    const said = toArray(turn.messages);
    const shown = isWhole ? said : shownOf(turn.number, said, how, leftOut, pins);
    show(shown, isWhole ? turn : null);
    if (!leftOut && (shown.length > 0 || said.length === 0)) begins = { turn: turn.number, block: messages.length - 1 };
  }
  const complete = walk.turn === undefined;
  if (complete && thread.seed.length > 0) {
    const shown = shownOf(0, thread.seed, how, false, pins);
    show(shown, null);
    if (first === 0 && shown.length > 0) begins = { turn: 0, block: messages.length - 1 };
  }
  if (!complete) for (const block of pinnedBefore(thread, cut, pins)) show(block, null);
  const beginning =
    begins === null ? null : { turn: begins.turn, messages: oldestIn({ messages, turns }, begins.block) };
  const question = leadingQuestion(thread, messages, how, beginning);
  if (question !== null) insertQuestion(thread, { messages, turns }, question);
  const summary = cut.summarised === undefined ? null : summaryMessage(thread, cut);
  if (summary !== null) show([summary], null);
  if (system !== null && cut.system === undefined) show([system], null);
  return { messages, turns };
};

/** Returns what a block shows of its oldest turn. Only one block is asked: reading a turn of each run would take long. */
const oldestIn = ({ messages, turns }: Blocks, block: number): readonly Message[] => {
  const whole = turns[block] ?? null;
  const oldest = whole !== null && "run" in whole ? whole.run[whole.from] : undefined;
  return oldest === undefined ? (messages[block] ?? []) : toArray(oldest.messages);
};

/** A cut prepared for showing units. */
export interface Showing {
  readonly cut: Cut;
  readonly dropped: ReadonlySet<string> | null;
  readonly shrink: Shrinker;
  /** From this turn on, closed turns are shown unchanged, except those left out because they were interrupted. */
  readonly wholeFrom: number;
}

export const showing = (cut: Cut, shrink: Shrinker = shrinkMessage): Showing => ({
  cut,
  dropped: cut.dropped === undefined ? null : new Set(cut.dropped),
  shrink,
  wholeFrom: firstWhole(cut),
});

/** Shows the units of a closed turn. Its question is shown if any later unit is, whatever the cut says. */
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

/** The oldest turn that a prompt shows, but for what is pinned before it, and what is shown of it. */
export interface Beginning {
  /** 0 for the seed. */
  readonly turn: number;
  readonly messages: readonly Message[];
}

/**
 * Returns the question that leads a prompt; null if there is none. It leads a prompt that would begin with a model's
 * message. It also leads one that begins with a turn in which nothing is said, such as an ask with only a developer
 * message. There the next message may be the model's, and the prompt must begin in the same way before and after it.
 */
export const leadingQuestion = (
  thread: Thread,
  newestFirst: readonly (readonly Message[])[],
  how: Showing,
  begins: Beginning | null,
): Pick<Unit, "id" | "messages"> | null => {
  const led = ledBy(thread, firstSaid(newestFirst), begins);
  if (led === null) return null;
  for (const unit of questionsBefore(thread, led, how.cut.interrupted)) {
    const messages = showUnit(unit, uncut(how));
    if (messages.length > 0) return { id: unit.id, messages };
  }
  return null;
};

/** Returns the place before which a question is missing; null if none is. */
const ledBy = (
  thread: Thread,
  first: Message | undefined,
  begins: Beginning | null,
): Pick<Unit, "turn" | "position"> | null => {
  if (first !== undefined && first.role !== "user") return placeOf(thread, turnIn(first.id), first.id);
  if (begins === null || (first !== undefined && turnIn(first.id) <= begins.turn)) return null;
  const { turn, messages } = begins;
  return saysNothing(messages) ? placeOf(thread, turn, messages[0]?.id) : null;
};

/** Returns the number of a message's turn, with which its id begins. */
const turnIn = (id: string): number => Number.parseInt(id, 10);

/** Returns the place of a message of the seed, or where a turn begins. */
const placeOf = ({ seed }: Thread, turn: number, message: string | undefined): Pick<Unit, "turn" | "position"> => ({
  turn,
  position: turn === 0 ? unitsOf(0, seed).findIndex(({ id }) => id === message) : 0,
});

/** Inserts the question at its place in the thread: system messages appended before it stay before it. */
const insertQuestion = (
  thread: Thread,
  shown: { readonly messages: (readonly Message[])[]; readonly turns: Blocks["turns"][number][] },
  question: Pick<Unit, "id" | "messages">,
): void => {
  const isOlder = (message: Message): boolean => {
    const [turn, other] = [turnIn(message.id), turnIn(question.id)];
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
  shown.messages.unshift(question.messages);
  shown.turns.unshift(null);
};

/** Returns the index of a closed turn's message in its turn. */
const placeIn = (thread: Thread, id: string): number =>
  messagesIn(thread, turnIn(id)).findIndex((message) => message.id === id);

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

/** Returns whether a position is older than everything that a cut shows. */
export const isCutOff = (position: UnitPosition, { from }: Cut): boolean => isOlder(position, from);

/** Returns the ids of pinned messages on the path, by turn, with the questions that belong to them. */
export const pinsOf = (thread: Thread, interrupted: InterruptedTurns): Pins => {
  const pins = new Map<number, Set<string>>();
  const pin = (turn: number, message: string): void => void pins.set(turn, (pins.get(turn) ?? new Set()).add(message));
  const withoutOwn: Unit[] = [];
  for (const { turn, message } of thread.pins) {
    if (turn <= thread.turns.length && !isOnPath(thread, turn)) continue;
    pin(turn, message);
    const units = unitsOf(turn, messagesIn(thread, turn));
    const pinned = units.find(({ messages }) => messages.some(({ id }) => id === message));
    const own = questionIn(turn, units);
    if (pinned === undefined) continue;
    if (own !== undefined && own.position < pinned.position) pin(turn, own.id);
    else if (needsQuestion(pinned)) withoutOwn.push(pinned);
  }
  for (const unit of withoutOwn) {
    const [question] = questionsBefore(thread, unit, interrupted, pins);
    if (question !== undefined) pin(question.turn, question.id);
  }
  return pins;
};

const messagesIn = (thread: Thread, turn: number): readonly Message[] => {
  const closed = turnOf(thread, turn);
  return turn === 0 ? thread.seed : closed === undefined ? [] : toArray(closed.messages);
};

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
    first = Math.max(first, before.turn + 1);
  }
  return first;
};

/** Returns the pinned messages of turns that the cut leaves out, newest first, as blocks are. */
const pinnedBefore = (thread: Thread, { from }: Cut, pins: Pins): readonly (readonly Message[])[] =>
  [...pins.keys()]
    .filter((turn) => from !== null && turn < from.turn)
    .sort((left, right) => right - left)
    .map((turn) => pinnedUnits(thread, pins, turn).flatMap(({ messages }) => messages));
