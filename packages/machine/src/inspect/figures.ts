import { sizeOf, turnOf, turnsNewestFirst, type Thread } from "../thread/thread.ts";
import { toArray } from "../thread/chunks.ts";
import type { Message } from "../thread/message.ts";
import type { Turn } from "../thread/turn.ts";
import type { Usage } from "../thread/usage.ts";
import type { Cut } from "../prompt/cut.ts";
import { pinsOf, showing, type Showing, showUnits, type Shrinker } from "../prompt/render.ts";
import { sectionOf, summarySections } from "../prompt/summary-message.ts";
import { isLeftOut, unitsOf } from "../prompt/unit.ts";
import { shareOf } from "./explain.ts";
import { type ConversationMachine, internals } from "../conversation/machine.ts";
import { promptOf } from "../conversation/prompt-of.ts";
import { messagesOfOpen } from "../conversation/read/turns.ts";
import type { OpenTurn, State } from "../conversation/protocol/data.ts";
import { sizeOfPath } from "../conversation/update/turn-closing.ts";

/** The size of a conversation, and how much of it the next prompt shows. */
export interface ThreadFigures {
  /** The number of messages on the path, including the open turn and waiting messages, without the system message. */
  readonly messages: number;
  /** The characters of their texts, in UTF-16 units. */
  readonly characters: number;
  /** The tokens of the next prompt by the machine's counter; null if it fails. */
  readonly tokens: number | null;
  /** The room: the budget without its reserve, calibrated; null for no bound. */
  readonly available: number | null;
  /** `tokens` as a share of `available`; null if either is unknown, or if there is no room at all. */
  readonly share: number | null;
  /** A prompt that does not fit is not sent. */
  readonly fits: boolean;
  /** The thread's usage so far, including undone turns. */
  readonly usage: Usage;
  readonly turns: TurnFigures;
}

/** The numbers of closed turns on the path, by what the next prompt shows of them. */
export interface TurnFigures {
  readonly total: number;
  /** Shown without change. */
  readonly whole: number;
  /** Partly shown: some of it is left out or shrunk. */
  readonly partly: number;
  /** Covered only by a summary, or by a line made by rule. */
  readonly summarised: number;
  readonly out: number;
}

/**
 * Computes the figures of a conversation as it is now. Pure. The cost is that of the next prompt, however long the
 * thread is.
 */
export const figuresOf = (machine: ConversationMachine, state: State): ThreadFigures => {
  const { conversation, open, usage } = state.context;
  const { cut, messages, tokens, available, fits } = promptOf(machine, state);
  return {
    ...sizesOf(conversation, open),
    tokens,
    available,
    share: shareOf(tokens, available),
    fits,
    usage: usage.total,
    turns: turnFigures(conversation, cut, messages, machine[internals].settings.counts.shrink),
  };
};

/** The size of a conversation; a part of its figures. */
export interface ThreadSize extends Pick<ThreadFigures, "messages" | "characters" | "usage" | "share"> {
  /** The number of closed turns on the path. */
  readonly turns: number;
}

/**
 * Returns the size of a conversation. Pure. Its cost does not depend on the length of the thread, unless the machine has
 * a budget: then it also counts the next prompt, as `figuresOf` does.
 */
export const sizeOfThread = (machine: ConversationMachine, state: State): ThreadSize => {
  const { conversation, open, usage } = state.context;
  return {
    turns: sizeOfPath(conversation).turns,
    ...sizesOf(conversation, open),
    usage: usage.total,
    share: machine[internals].settings.budget === null ? null : shareOfNext(machine, state),
  };
};

const sizesOf = (conversation: Thread, open: OpenTurn | null): Pick<ThreadFigures, "messages" | "characters"> => {
  const closed = sizeOfPath(conversation);
  const added = sizeOf(open === null ? [] : messagesOfOpen(open));
  return { messages: closed.messages + added.messages, characters: closed.characters + added.characters };
};

const shareOfNext = (machine: ConversationMachine, state: State): number | null => {
  const { tokens, available } = promptOf(machine, state);
  return shareOf(tokens, available);
};

/** Reads only the shown turns and those with pinned messages. For the others it needs only their number. */
const turnFigures = (thread: Thread, cut: Cut, messages: readonly Message[], shrink: Shrinker): TurnFigures => {
  const pins = pinsOf(thread, cut.interrupted);
  const total = turnOf(thread, thread.head)?.place.turns ?? 0;
  const sections = cut.summarised === undefined ? [] : summarySections(thread, cut.summarised, cut);
  const how = showing(cut, shrink);
  const shown = new Map<number, "whole" | "partly">();
  for (const turn of turnsNewestFirst(thread)) {
    if (cut.from !== null && turn.number < cut.from.turn) break;
    const is = shownOf(turn, how, pins.get(turn.number));
    if (is !== "out") shown.set(turn.number, is);
  }
  let summarised = sections.reduce((sum, { from, to }) => sum + turnsBetween(thread, from, to), 0);
  // Of older turns the prompt has pinned messages, and perhaps the question that leads it.
  for (const { id } of messages) {
    const number = Number.parseInt(id, 10);
    const turn = shown.has(number) ? undefined : turnOf(thread, number);
    if (turn === undefined) continue;
    // They are shown beside the summary of the turn.
    if (sectionOf(sections, number) !== undefined) summarised--;
    const is = shownOf(turn, how, pins.get(number));
    shown.set(number, is === "whole" || turn.messages.length === 1 ? "whole" : "partly");
  }
  const whole = [...shown.values()].filter((is) => is === "whole").length;
  return { total, whole, partly: shown.size - whole, summarised, out: total - shown.size - summarised };
};

const shownOf = (turn: Turn, how: Showing, pinned: ReadonlySet<string> | undefined): "whole" | "partly" | "out" => {
  const leftOut = isLeftOut(turn, how.cut);
  if (!leftOut && turn.number >= how.wholeFrom) return "whole";
  const messages = toArray(turn.messages);
  const shown = showUnits(turn.number, unitsOf(turn.number, messages, pinned), how, leftOut).flat();
  if (shown.length === messages.length && shown.every((message, index) => message === messages[index])) return "whole";
  return shown.length === 0 ? "out" : "partly";
};

/** Returns the number of turns in a part of the path; the seed does not count. */
const turnsBetween = (thread: Thread, from: number, to: number): number => {
  const before = turnOf(thread, turnOf(thread, from)?.parent ?? 0)?.place.turns ?? 0;
  return (turnOf(thread, to)?.place.turns ?? 0) - before;
};
