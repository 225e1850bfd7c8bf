import { toUiMessages, type UiMessage, type UiMessagePart } from "@colloquy/interchange";
import {
  approvalsOf,
  type JsonObject,
  lastTurnOf,
  type Message,
  type State,
  toArray,
  type ToolCallPart,
  type ToolResultPart,
  type Turn,
  turnNumbered,
} from "@colloquy/machine";
import { waitingAsks } from "@colloquy/machine/hosting";
import { resultsOf } from "../items/pieces.ts";
import { endedBy, inputOf, messageIdOf, metadataOf, type Step, stepsOf } from "./steps.ts";

/**
 * Returns the path of a thread as `UIMessage`s of the AI SDK (7), for the first paint of a page. The answer of a turn
 * is one message, equal to the one that a client builds from the turn's stream; its id names the turn. The turn's input
 * messages come before it, under their original ids. Messages of pages that wait for their turn come last. System
 * messages are left out.
 *
 * @param options `last`: only so many of the newest turns. Default: all turns, and the messages that the thread was
 * seeded with.
 */
export const uiMessagesOf = (
  state: State,
  { last }: { readonly last?: number | undefined } = {},
): readonly UiMessage[] => {
  const { open, conversation } = state.context;
  const turns: Turn[] = [];
  for (const turn of turnsNewestFirst(state)) if (turns.push(turn) === last) break;
  const oldest = turns.at(-1);
  const isCut = last !== undefined && oldest !== undefined && (oldest.parent > 0 || conversation.seed.length > 0);
  const shown = turns.reverse().map(shownOfTurn);
  const waiting = shownWaiting(state).map(({ message }) => message);
  if (open !== null) {
    const { answer, ...turn } = shownOfOpen(state, open);
    // A page that resumes the turn replaces its answer. Without one, it would put it after the messages that wait.
    const empty = waiting.length > 0 ? answerOf(open.number, [], { turn: open.number }, noApprovals) : null;
    shown.push({ ...turn, answer: answer ?? empty });
  }
  const said = shown.flatMap(({ inputs, answer }) => (answer === null ? inputs : [...inputs, answer]));
  const messages = [...said, ...waiting];
  return isCut ? markedAsCut(messages) : [...(last === undefined ? shownAsSaid(conversation.seed) : []), ...messages];
};

/** A message of a page that waits for its turn. */
export interface WaitingMessage {
  readonly askId: string;
  readonly message: UiMessage;
}

/** Returns the messages of pages that wait for their turn, oldest first. */
export const shownWaiting = (state: State): readonly WaitingMessage[] =>
  waitingAsks(state).flatMap(({ askId, messages }) =>
    messages.flatMap((said) =>
      shownAsSaid([said]).flatMap((message) => (message.id === said.id ? [] : [{ askId, message }])),
    ),
  );

export interface ShownTurn {
  readonly number: number;
  readonly parent: number;
  readonly inputs: readonly UiMessage[];
  /** The model's message; null if it has none. */
  readonly answer: UiMessage | null;
  readonly isOpen: boolean;
}

/** Returns a turn by its number, open or closed, on the path or off it; null if there is none. */
export const shownTurn = (state: State, number: number): ShownTurn | null => {
  const { open } = state.context;
  if (open?.number === number) return shownOfOpen(state, open);
  const turn = turnNumbered(state, number);
  return turn === undefined ? null : shownOfTurn(turn);
};

export const shownSeed = (state: State): readonly UiMessage[] => shownAsSaid(state.context.conversation.seed);

/** Returns the numbers of the turns after a turn on the path, oldest first; null if that turn is not on the path. */
export const pathBehind = (state: State, turn: number): readonly number[] | null => {
  const { open, conversation } = state.context;
  const numbers: number[] = [];
  let number = open?.number ?? conversation.head;
  while (number > turn) {
    numbers.push(number);
    number = (number === open?.number ? open : turnNumbered(state, number))?.parent ?? 0;
  }
  return number === turn ? numbers.reverse() : null;
};

/** Marks the first answer if the thread has older turns, lest a page that posts it seem to have deleted them. */
const markedAsCut = (messages: readonly UiMessage[]): readonly UiMessage[] => {
  const first = messages.findIndex(({ role }) => role === "assistant");
  return messages.map((message, index) =>
    index === first ? { ...message, metadata: { ...message.metadata, earlier: true } } : message,
  );
};

/** Finds the newest turn on the path that a user's UI message opened, and its parent; null if there is none. */
export const turnOfUiMessage = (
  state: State,
  id: string,
): { readonly turn: number; readonly parent: number } | null => {
  const { open } = state.context;
  const isIts = ({ messages }: Pick<Turn, "messages">): boolean =>
    shownAsSaid(inputs(toArray(messages))).some((message) => message.id === id);
  if (open !== null && isIts(open)) return { turn: open.number, parent: open.parent };
  for (const turn of turnsNewestFirst(state)) if (isIts(turn)) return { turn: turn.number, parent: turn.parent };
  return null;
};

/** Yields the closed turns of the path lazily, newest first. */
function* turnsNewestFirst(state: State): Generator<Turn, void> {
  for (let turn = lastTurnOf(state); turn !== undefined; turn = turnNumbered(state, turn.parent)) yield turn;
}

const shownOfTurn = ({ number, parent, messages, steps, outcome, usage }: Turn): ShownTurn => {
  const all = toArray(messages);
  const metadata = { turn: number, status: outcome.status, usage: asJson(usage) };
  const answer = answerOf(number, all, metadata, noApprovals);
  // A turn that failed before its answer shows that; a turn without a model call has no answer.
  const isShown = answer.parts[0] !== undefined || steps > 0;
  return { number, parent, inputs: shownAsSaid(inputs(all)), answer: isShown ? answer : null, isOpen: false };
};

const shownOfOpen = (state: State, open: NonNullable<State["context"]["open"]>): ShownTurn => {
  const { number, parent, messages, stage, refusedOutputs = [] } = open;
  const refused = new Set(refusedOutputs.flatMap(({ reply, request }) => [reply.id, request?.id]));
  const results = stage.type === "running" ? stage.calls.flatMap(({ result }) => result ?? []) : [];
  const all = [...toArray(messages).filter(({ id }) => !refused.has(id)), ...results];
  const approvals = new Map(approvalsOf(state).map(({ callId, digest }) => [callId, digest]));
  const answer = answerOf(number, all, { turn: number }, approvals);
  const isShown = answer.parts[0] !== undefined;
  return { number, parent, inputs: shownAsSaid(inputs(all)), answer: isShown ? answer : null, isOpen: true };
};

const inputs = (messages: readonly Message[]): readonly Message[] => messages.filter(({ role }) => role === "user");

const shownAsSaid = (messages: readonly Message[]): readonly UiMessage[] =>
  toUiMessages(messages.filter(({ role }) => role !== "system" && role !== "developer")).value;

const answerOf = (
  turn: number,
  messages: readonly Message[],
  metadata: JsonObject,
  approvals: ReadonlyMap<string, string>,
): UiMessage => {
  const results = resultsOf(messages);
  const parts = stepsOf(messages).flatMap(({ said, calls }, index): readonly UiMessagePart[] => [
    { type: "step-start" },
    ...said.map((text, place) => textPart(text, `${index + 1}.${place}`)),
    ...calls.map((call) => toolPart(call, results.get(call.callId), approvals.get(call.callId))),
  ]);
  return { id: messageIdOf(turn), role: "assistant", parts, metadata };
};

const textPart = ({ kind, text }: Step["said"][number], id: string): UiMessagePart =>
  kind === "reasoning"
    ? { type: kind, id, text, state: "done" }
    : { type: "text", text, state: "done", ...metadataOf(kind) };

const toolPart = (
  { callId, name, arguments: written }: ToolCallPart,
  result: ToolResultPart | undefined,
  signature: string | undefined,
): UiMessagePart => {
  const call = { type: `tool-${name}`, toolCallId: callId, input: inputOf(written) };
  if (result === undefined)
    return signature === undefined
      ? { ...call, state: "input-available" }
      : { ...call, state: "approval-requested", approval: { id: callId, signature } };
  const ended = endedBy(result.outcome, result.content);
  if (ended.state !== "output-denied") return { ...call, ...ended };
  const { state, reason } = ended;
  return { ...call, state, approval: { id: callId, approved: false, ...(reason === undefined ? {} : { reason }) } };
};

const noApprovals: ReadonlyMap<string, string> = new Map();

/** Converts usage, which is plain JSON though its type does not say so. */
const asJson = (usage: Turn["usage"]): JsonObject => usage as Turn["usage"] & JsonObject;
