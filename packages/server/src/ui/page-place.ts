import type { State } from "@colloquy/machine";
import type { SentMessage } from "./chat-request.ts";
import { turnIn } from "./steps.ts";
import { pathBehind, type ShownTurn, shownSeed, shownTurn, shownWaiting, turnOfUiMessage } from "./ui-messages.ts";

/** The place of a page's last message in its thread, derived from the messages before it. */
export interface PagePlace {
  /** The turn that it follows, which need not be the head; null if the page does not say. */
  readonly parent: number | null;
  /** The turn on the path that answers it now; null if there is none. */
  readonly answered: number | null;
  /** Whether the page may show nothing of the turns before its first message. */
  readonly isCut: boolean;
  /** Users' messages right before it that no turn has answered for this page. They are asked together with it. */
  readonly unanswered: readonly SentMessage[];
  /** A harmless difference between the page and the thread; null if there is none. */
  readonly differs: string | null;
}

/** The reason why the thread can't continue from a page's messages. */
export interface PageProblem {
  readonly problem: string;
}

/**
 * Finds the place of a page's last message. The page's newest answer names a turn, and the page must show that turn and
 * all before it as they are. A page that posts one message leaves the place open.
 *
 * @param isReplacement whether the page edits the message, or regenerates its answer.
 */
export const placeInThread = (
  state: State,
  messages: readonly SentMessage[],
  isReplacement: boolean,
): PagePlace | PageProblem => {
  const shown = messages.filter(({ role }) => role !== "system");
  const last = shown.at(-1);
  const earlier = shown.slice(0, -1);
  if (last === undefined) return { problem: "there are none" };
  if (earlier.length === 0) {
    const before = isReplacement ? turnOfUiMessage(state, last.id) : null;
    const answered = before?.turn ?? null;
    return { parent: before?.parent ?? null, answered, isCut: true, unanswered: [], differs: null };
  }
  const newest = earlier.findLastIndex(({ role, id }) => role === "assistant" && turnIn(id) !== null);
  const anchor = turnIn(earlier[newest]?.id ?? "") ?? 0;
  const left = earlier.slice(newest + 1);
  const fromStart = onPath(state, anchor, left, anchor === 0);
  // A page that shows nothing of the thread's start may begin at a later turn, or show nothing of the thread at all.
  const isCut = !("problem" in fromStart) && isNowhere(fromStart);
  const begun = isCut ? turnOfUiMessage(state, left[0]?.id ?? "") : null;
  const behind = begun === null ? fromStart : onPath(state, begun.parent, left, false);
  if ("problem" in behind) return behind;
  const { parent, rest, next, differs } = behind;
  const before = newest < 0 ? { differs: null } : checkedBack(state, anchor, earlier.slice(0, newest + 1));
  if ("problem" in before) return before;
  const answered = next !== null && idsOf(next).includes(last.id) ? next.number : null;
  const waiting = shownWaiting(state);
  const isWaiting = (message: SentMessage): boolean =>
    waiting.some((each) => each.message.id === message.id && textOf(each.message) === textOf(message));
  return {
    // A page that shows nothing of the thread has not removed anything from it.
    parent: isCut && begun === null ? null : parent,
    answered,
    isCut,
    unanswered: rest.filter((message) => !isWaiting(message)),
    differs: before.differs ?? differs,
  };
};

/** Returns the ids of the asks that wait with another text of a page's message. */
export const asksOfOldText = (state: State, last: SentMessage): readonly string[] =>
  shownWaiting(state).flatMap(({ askId, message }) =>
    message.id === last.id && textOf(message) !== textOf(last) ? [askId] : [],
  );

/** Returns how a page differs from the thread before the turn that answers its last message; null if it does not. */
export const differenceBefore = (state: State, turn: number, messages: readonly SentMessage[]): string | null => {
  const place = placeInThread(state, messages, false);
  if ("problem" in place) return threadIsAhead;
  const { parent, differs } = place;
  return parent === null || parent === turn || parent === shownTurn(state, turn)?.parent ? differs : threadIsAhead;
};

/** Checks whether none of a page's messages is at the start of the thread. */
const isNowhere = ({ parent, rest: [first], next }: Followed): boolean =>
  parent === 0 && first !== undefined && !(next !== null && idsOf(next).includes(first.id));

/** The messages after the newest turn that a page names. */
interface Followed {
  /** The turn that the remaining messages follow. */
  readonly parent: number;
  readonly rest: readonly SentMessage[];
  /** The next turn on the path; null if there is none. */
  readonly next: ShownTurn | null;
  readonly differs: string | null;
}

/** Follows the path after a turn, as long as the messages match its turns. */
const onPath = (
  state: State,
  from: number,
  messages: readonly SentMessage[],
  isFromStart: boolean,
): Followed | PageProblem => {
  let rest = messages;
  let parent = from;
  let differs: string | null = null;
  if (isFromStart)
    for (const seeded of shownSeed(state)) {
      const [first] = rest;
      if (first?.id === seeded.id || (first?.role === seeded.role && textOf(first) === textOf(seeded)))
        rest = rest.slice(1);
      else differs = seedMissing;
    }
  const behind = pathBehind(state, from) ?? [];
  let next: ShownTurn | null = null;
  for (const number of behind) {
    next = shownTurn(state, number);
    const left = next === null || rest.length === 0 ? null : withoutTurn(rest, next);
    if (left === null) break;
    rest = left;
    parent = number;
    next = null;
  }
  const greetings = rest.findIndex(({ role }) => role !== "assistant");
  if (parent === 0 && isFromStart && greetings !== 0 && rest.length > 0) {
    // A page's greeting before the first question is not part of the thread.
    rest = greetings < 0 ? [] : rest.slice(greetings);
    differs = greetingOnly;
  }
  const strange = rest.find(({ role }) => role === "assistant");
  return strange === undefined ? { parent, rest, next, differs } : { problem: notThere(strange) };
};

/** Removes a turn's messages from the front; returns null if the list does not start with them. */
const withoutTurn = (messages: readonly SentMessage[], turn: ShownTurn): readonly SentMessage[] | null => {
  const { inputs, answer, isOpen } = turn;
  const taken = messages.slice(0, inputs.length);
  if (!taken.every((message, index) => message.id === inputs[index]?.id && textOf(message) === textOf(inputs[index])))
    return null;
  // Another caller may have added a message to the open turn.
  if (taken.length < inputs.length && !isOpen) return null;
  const rest = messages.slice(taken.length);
  const [first] = rest;
  if (first?.role === "assistant" && answer !== null && isForeignCopy(first, answer)) return rest.slice(1);
  return answer?.parts[0] === undefined || isOpen ? rest : null;
};

/** Checks that the messages match a turn and all turns before it. */
const checkedBack = (
  state: State,
  from: number,
  messages: readonly SentMessage[],
): { readonly differs: string | null } | PageProblem => {
  let end = messages.length;
  let differs: string | null = null;
  let number = from;
  while (number > 0) {
    const turn = shownTurn(state, number);
    if (turn === null) return { problem: `turn-${number} is not in the thread` };
    let start = end;
    while (start > 0 && isOfTurn(messages[start - 1], turn)) start -= 1;
    const taken = messages.slice(start, end);
    const problem = problemOfTurn(taken, turn);
    if (problem !== null) return { problem };
    if (taken.some((message) => message.role === "assistant" && isPart(message, turn))) differs = partOnly;
    end = start;
    number = turn.parent;
    if (end === 0 && number > 0) return taken.some(isCut) ? { differs } : { problem: startMissing };
  }
  for (const seeded of shownSeed(state).toReversed()) {
    const message = messages[end - 1];
    if (message?.id === seeded.id || (message?.role === seeded.role && textOf(message) === textOf(seeded))) end -= 1;
    else if (!messages.some(isCut)) differs = seedMissing;
  }
  const strange = messages.slice(0, end).findLast(({ role }) => role !== "assistant");
  if (strange !== undefined) return { problem: notThere(strange) };
  return { differs: end > 0 ? greetingOnly : differs };
};

const isOfTurn = (message: SentMessage | undefined, turn: ShownTurn): boolean => {
  if (message === undefined) return false;
  if (message.role === "user") return idsOf(turn).includes(message.id);
  if (turnIn(message.id) !== null) return turnIn(message.id) === turn.number;
  return turn.answer !== null && isForeignCopy(message, turn.answer);
};

const problemOfTurn = (messages: readonly SentMessage[], turn: ShownTurn): string | null => {
  const { number, inputs, answer, isOpen } = turn;
  for (const input of inputs) {
    const same = messages.filter(({ id }) => id === input.id);
    if (same.length === 0) return `the message ${JSON.stringify(input.id)}, before turn-${number}, is missing`;
    if (!same.some((message) => textOf(message) === textOf(input)))
      return `the thread has the message ${JSON.stringify(input.id)} with another text`;
  }
  const answers = messages.filter(({ role }) => role === "assistant");
  if (answers.length === 0 && answer?.parts[0] !== undefined) return `turn-${number} is missing`;
  const isOther = answers.some((message) => {
    const [page, thread] = [textOf(message), textOf(answer ?? undefined)];
    // While a turn is open, the page may have received more text than the thread has stored.
    return !thread.startsWith(page) && !(isOpen && page.startsWith(thread));
  });
  return isOther ? `the thread has turn-${number} with another text` : null;
};

/** Checks whether a page has only the start of an ended answer, as after a broken connection. */
const isPart = (message: SentMessage, { answer, isOpen }: ShownTurn): boolean =>
  !isOpen && textOf(message) !== textOf(answer ?? undefined);

/** Checks whether an imported message is the thread's answer under another id. */
const isForeignCopy = (message: SentMessage, answer: Texts): boolean =>
  turnIn(message.id) === null && textOf(message) === textOf(answer);

const isCut = ({ metadata }: SentMessage): boolean =>
  typeof metadata === "object" && metadata !== null && "earlier" in metadata && metadata.earlier === true;

interface Texts {
  readonly parts: readonly { readonly [member: string]: unknown; readonly type: string }[];
}

const textOf = (message: Texts | undefined): string =>
  (message?.parts ?? [])
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? text : []))
    .join("")
    .toWellFormed();

const idsOf = ({ inputs }: ShownTurn): readonly string[] => inputs.map(({ id }) => id);

const notThere = ({ id }: SentMessage): string => `the thread has no message ${JSON.stringify(id)} there`;

export const threadIsAhead = "The thread has newer messages than the page shows.";

const startMissing = "the thread has older messages, which the page no longer shows";
const seedMissing = "The thread began with messages that the page does not show.";
const greetingOnly = "The page begins with a message that the thread does not have.";
const partOnly = "The page shows part of an answer that the thread has whole.";
