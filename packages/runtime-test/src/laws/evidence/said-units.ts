import { type Counter, type Unit, unitsOf } from "@colloquy/machine/policies";
import {
  type MachineOptions,
  type Message,
  messageFromDraft,
  type OpenTurn,
  type State,
  toArray,
  type Turn,
} from "@colloquy/machine";
import type { RoundCall } from "@colloquy/machine/hosting";
import { LawBroken } from "./law-broken.ts";
import { type Asked, type HasWords, ownQuestion, withQuestions } from "./questions.ts";
import { draftsOfAsk } from "./utterance.ts";

/** The content of a thread before any policy, read by a simple, slow way. */
export interface SaidUnits extends Asked {
  readonly system: Message | null;
}

export const saidUnits = (state: State): SaidUnits => {
  const { conversation } = state.context;
  const all = toArray(conversation.turns);
  const pins = new Set(conversation.pins.map(({ message }) => message));
  const turns = new Map<number, Turn>();
  for (let number = conversation.head; number !== 0;) {
    const turn = all.find((candidate) => candidate.number === number);
    if (turn === undefined) throw new LawBroken("P8", `turn ${number} is on the path and not in the thread`);
    turns.set(number, turn);
    number = turn.parent;
  }
  const path = [...turns.values()].reverse();
  return {
    system: conversation.system,
    closed: [
      ...unitsOf(0, conversation.seed, pins),
      ...path.flatMap((turn) => unitsOf(turn.number, toArray(turn.messages), pins)),
    ],
    open: unitsOf(all.length + 1, openMessages(state), pins),
    isOpen: state.context.open !== null,
    turns,
  };
};

export const messagesIn = (units: readonly Unit[]): readonly Message[] => units.flatMap(({ messages }) => messages);

/** Returns what every prompt must show: the system message, pinned units, the open turn, and their questions. */
export const fixedIn = (said: SaidUnits, hasWords?: HasWords): readonly Message[] =>
  wholeWith(said, { isShown: ({ pinned }) => pinned === true, from: Number.POSITIVE_INFINITY }, hasWords);

/** Returns a prompt that shows these closed units and their questions; before turn `from` only pinned ones count. */
export const wholeWith = (
  said: SaidUnits,
  { isShown, from }: { readonly isShown: (unit: Unit, index: number) => boolean; readonly from: number },
  hasWords?: HasWords,
): readonly Message[] => {
  const led = withQuestions(said, { units: new Set(said.closed.filter(isShown)), from }, hasWords);
  return wholeOf({ ...said, closed: said.closed.filter((unit) => led.has(unit)) });
};

export const wholeOf = ({ system, closed, open }: SaidUnits): readonly Message[] => [
  ...(system === null ? [] : [system]),
  ...messagesIn(closed),
  ...messagesIn(open),
];

/** Returns whether a message is a placeholder for the unknown result of a running call. */
export const isGap = ({ synthesised, digest }: Message): boolean => synthesised === true && digest === "";

/** Returns the units with a prompt's placeholders for results that are still unknown. */
export const withGapsFilled = (said: SaidUnits, shown: readonly Message[]): SaidUnits => {
  const byId = new Map(shown.map((message) => [message.id, message]));
  const filled = (message: Message): Message => (isGap(message) ? (byId.get(message.id) ?? message) : message);
  return { ...said, open: said.open.map((unit) => ({ ...unit, messages: unit.messages.map(filled) })) };
};

/** Leaves out interrupted turns if they are omitted. Pinned units in them, and their questions, stay. */
export const withoutLeftOut = (said: SaidUnits, { interrupted }: Pick<MachineOptions, "interrupted">): SaidUnits => {
  if (interrupted !== "omit") return said;
  const turns = new Map([...said.turns].filter(([, { outcome }]) => outcome.status === "completed"));
  const along = new Set(
    said.closed.flatMap((unit) => (unit.pinned === true ? (ownQuestion(said.closed, unit) ?? []) : [])),
  );
  const closed = said.closed.filter(
    (unit) => unit.turn === 0 || turns.has(unit.turn) || unit.pinned === true || along.has(unit),
  );
  return { ...said, turns, closed };
};

/** Counts the tokens of a prompt, part by part; null if the counter cannot. */
export const tokensOf = (counter: Counter, messages: readonly Message[]): number | null => {
  try {
    const tokens = counter.countPrompt?.(messages) ?? sumOfTokens(counter, messages);
    return Number.isFinite(tokens) ? tokens : null;
  } catch {
    return null;
  }
};

/** Counts the tokens of messages one by one, and adds the fixed cost of a prompt. */
export const sumOfTokens = (counter: Counter, messages: readonly Message[]): number => {
  let tokens = counter.perPrompt;
  for (const { parts } of messages) {
    tokens += counter.perMessage;
    for (const part of parts) tokens += counter.countPart(part);
  }
  return tokens;
};

/**
 * Returns the messages of the open turn, including those of joining asks. A running call has a message with its id and
 * unknown content. Between turns, returns the appended messages that wait for the next turn.
 */
export const openMessages = ({ context: { open, conversation } }: State): readonly Message[] => {
  if (open === null) return conversation.appended;
  const { stage } = open;
  const results = stage.type === "running" ? stage.calls.map(resultOrGap) : [];
  return [...toArray(open.messages), ...results, ...open.waiting, ...joiningMessages(open)];
};

const resultOrGap = ({ callId, providerCallId, name, result }: RoundCall): Message => {
  if (result !== null) return result;
  const part = { type: "toolResult", callId, providerCallId, name, outcome: "interrupted", content: [] } as const;
  return { id: callId, role: "tool", parts: [part], digest: "", synthesised: true };
};

/** Returns the messages of joining asks, as the turn's next prompt shows them. */
export const joiningMessages = (open: OpenTurn | null): readonly Message[] =>
  (open?.joining ?? [])
    .flatMap(draftsOfAsk)
    .map((draft, index) => messageFromDraft(`${open?.number}.${(open?.made ?? 0) + index}`, draft));

/** Returns what was set aside when a turn ended: answers that were refused as its output, and repair requests. */
export const refusedMessages = ({ refusedOutputs = [] }: Pick<Turn, "refusedOutputs">): readonly Message[] =>
  refusedOutputs.flatMap(({ reply, request }) => [reply, ...(request === undefined ? [] : [request])]);
