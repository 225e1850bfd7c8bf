import {
  type Content,
  type ContentPart,
  type Message,
  type State,
  toArray,
  toolCallsOf,
  type Turn,
} from "@colloquy/machine";
import { textOfDelta, type TurnLog, withText } from "./log.ts";
import { type AskPart, partsAwaited } from "./parts.ts";

/** A part that is made from the journal, with its index among all such parts of the turn, from 1. */
interface ReplayedPart {
  readonly index: number;
  readonly part: AskPart;
}

/** The members of a turn from which its parts are made. */
interface ReplayedTurn extends Pick<Turn, "number" | "asks" | "steps"> {
  readonly messages: readonly Message[];
  readonly answer: string | null;
  readonly outcome: Turn["outcome"] | null;
}

/**
 * Makes the parts of a turn from its journal alone: whole texts, calls, and results in the order of the calls. The same
 * turn gives the same parts in every process. A turn that continues gives more of them later, at the end.
 */
export const replayOf = ({ answer, messages, ...turn }: Turn): readonly AskPart[] =>
  replay({ ...turn, answer: answer ?? null, messages: toArray(messages) });

/** Appends to the log of a turn those of its parts that only its journal has. */
export const completeLog = (log: TurnLog, whole: readonly AskPart[]): void => {
  for (const { index, part } of notShown(log, whole)) log.appendOfJournal(index, part);
};

/**
 * Appends to the log of the open turn those of its parts that only its journal has, and its pending requests.
 *
 * @param epoch the places in an open turn have a meaning only in this process: its results may arrive in any order.
 */
export const completeOpenLog = (log: TurnLog, epoch: number, state: State): void => {
  const { open } = state.context;
  if (open === null) return;
  const whole = [...replayOfOpen(open), ...partsAwaited(state)];
  const newest = whole.reduce((step, part) => ("step" in part ? Math.max(step, part.step) : step), 0);
  if (newest === 0) return;
  // Earlier steps are complete.
  const later = whole.filter((part) => !("step" in part) || part.step >= log.journalledStep);
  const missing = notShown(log, later);
  if (missing.length > 0) log.journalledStep = newest;
  for (const { part } of missing) log.append(epoch, part);
};

/** Makes the parts of an open turn, as far as it is journalled. */
export const replayOfOpen = ({ number, asks, messages, step, stage }: NonNullable<OpenTurn>): readonly AskPart[] => {
  const results = stage.type === "running" ? stage.calls.flatMap(({ result }) => result ?? []) : [];
  const said = [...toArray(messages), ...results];
  // While a call is outstanding its step has no reply. An appended assistant message would be mistaken for it.
  const steps = stage.type === "responding" ? step - 1 : step;
  return replay({ number, asks, messages: said, answer: null, steps, outcome: null });
};

type OpenTurn = State["context"]["open"];

const replay = (turn: ReplayedTurn): readonly AskPart[] => {
  const { number, asks, outcome, steps } = turn;
  const parts: AskPart[] = [{ type: "turn.started", turn: number, askIds: asks.map(({ askId }) => askId) }];
  let step = 0;
  for (const { message, at } of repliesIn(turn)) {
    if (step > 0) parts.push({ type: "step.ended", turn: number, step });
    step = at;
    parts.push({ type: "step.started", turn: number, step }, ...partsOfReply(message, number, step));
    parts.push(...resultsOf(turn.messages, message, number, step));
  }
  if (step > 0 && (outcome !== null || steps > step)) parts.push({ type: "step.ended", turn: number, step });
  if (outcome !== null) parts.push({ type: "turn.ended", turn: number, status: outcome.status });
  return parts;
};

/** Returns the parts that were not shown yet. A step that differs is shown again, after `replay.started`. */
const notShown = (log: TurnLog, whole: readonly AskPart[]): readonly ReplayedPart[] => {
  const seen = seenIn(log.parts);
  const rest: ReplayedPart[] = [];
  for (const [index, part] of whole.entries()) {
    const left = seen.leftOf(part);
    // No part can be added to a step after its end, or after a later step, was shown. That says its end as well.
    const isLate = left !== null && "step" in part && seen.hasPassed(part.step);
    const isEnd = part.type === "step.ended";
    if (left === "differs" || (isLate && !isEnd)) return anewFrom(log.turn, stepOf(part), whole, rest);
    if (left !== null && !isLate) rest.push({ index: index + 1, part: left });
  }
  return log.end === 0 ? anewFrom(log.turn, 1, whole, []) : rest;
};

/** Returns whether the shown parts agree with the journal; not if words were redacted since. */
export const agrees = (shown: readonly AskPart[], whole: readonly AskPart[]): boolean => {
  const seen = seenIn(shown);
  return whole.every((part) => seen.leftOf(part) !== "differs");
};

const anewFrom = (
  turn: number,
  step: number,
  whole: readonly AskPart[],
  before: readonly ReplayedPart[],
): readonly ReplayedPart[] => {
  const found = whole.findIndex((part) => part.type === "step.started" && part.step === step);
  const from = step === 1 ? 0 : found;
  return [
    ...before.filter(({ index }) => index <= from),
    { index: from, part: { type: "replay.started", turn, step, synthesised: true } },
    ...whole.slice(from).map((part, offset) => ({ index: from + offset + 1, part })),
  ];
};

/** Collects the parts that were shown of a turn, step by step, without those that became void. */
const seenIn = (shown: readonly AskPart[]) => {
  const steps = new Map<number, SeenStep>();
  let newest = 0;
  let hasStarted = false;
  for (const part of shown) {
    if (part.type === "turn.started") hasStarted = true;
    if (part.type === "replay.started") {
      for (const step of steps.keys()) if (step >= part.step) steps.delete(step);
      newest = Math.min(newest, part.step - 1);
      continue;
    }
    if (part.type === "thread.lost") steps.delete(newest);
    if (part.type === "step.started") steps.set(part.step, emptyStep());
    if (!("step" in part)) continue;
    newest = part.step;
    const step = steps.get(part.step) ?? emptyStep();
    steps.set(part.step, step);
    see(step, part);
  }
  // Parts of steps before the first known one were dropped.
  const first = hasStarted ? 1 : Math.min(...steps.keys(), Infinity);
  const leftOf = (part: AskPart): AskPart | "differs" | null => {
    if (part.type === "turn.started") return null;
    if (!("step" in part)) return part;
    const step = steps.get(part.step);
    if (step === undefined) return part.step < first && first !== Infinity ? null : part;
    return leftInStep(step, part);
  };
  const hasPassed = (step: number): boolean => step < newest || steps.get(step)?.whole.has("step.ended") === true;
  return { leftOf, hasPassed };
};

interface SeenStep {
  attempt: number;
  readonly texts: Map<AskPart["type"], string>;
  readonly whole: Map<string, string>;
}

const emptyStep = (): SeenStep => ({ attempt: 1, texts: new Map(), whole: new Map() });

const see = (step: SeenStep, part: AskPart): void => {
  const text = part.type === "toolCall.delta" ? null : textOfDelta(part);
  if (text === null) {
    const said = saidBy(part);
    step.whole.set(said.name, said.text);
    return;
  }
  if ("attempt" in part && part.attempt !== step.attempt) {
    step.attempt = part.attempt;
    step.texts.clear();
  }
  step.texts.set(part.type, (step.texts.get(part.type) ?? "") + text);
};

/** Returns the part, or the rest of it, that was not shown, and counts it as shown from here on. */
const leftInStep = (step: SeenStep, part: AskPart): AskPart | "differs" | null => {
  const text = textOfDelta(part);
  if (text === null) {
    const said = saidBy(part);
    const seen = step.whole.get(said.name);
    if (seen === undefined) return part.type === "step.started" ? null : part;
    return seen === "" || seen === said.text ? null : "differs";
  }
  const seen = step.texts.get(part.type) ?? "";
  const common = Math.min(seen.length, text.length);
  if (seen.slice(0, common) !== text.slice(0, common)) return "differs";
  step.texts.set(part.type, seen.slice(common));
  if (common === text.length) return null;
  const left = withText(part, text.slice(common));
  return "attempt" in left ? Object.freeze({ ...left, attempt: step.attempt }) : left;
};

/** Returns the name of a whole part, and its content. */
const saidBy = (part: AskPart): { readonly name: string; readonly text: string } => {
  if (part.type === "toolCall") return { name: `call ${part.callId}`, text: `${part.name} ${part.arguments}` };
  if (part.type === "toolResult") return { name: `result ${part.callId}`, text: contentInWords(part.content) };
  if (part.type === "result.requested") return { name: `request ${part.callId}`, text: "" };
  if (part.type === "approval.requested") return { name: `approval ${part.request.id}`, text: "" };
  return { name: part.type, text: "" };
};

const contentInWords = (content: Content | null): string => {
  if (content === null) return "";
  return JSON.stringify(typeof content === "string" ? [{ type: "text", text: content }] : content);
};

const stepOf = (part: AskPart): number => ("step" in part ? part.step : 1);

/**
 * Yields the replies of models, each with its step. The calls of a reply give its step, and so does the answer. Another
 * assistant message was a reply if a step is left for it.
 */
function* repliesIn({ number, messages, answer, steps }: ReplayedTurn) {
  let step = 0;
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    const at = message.id === answer ? steps : (stepOfCalls(message, number) ?? step + 1);
    // The last step is that of the answer.
    const last = answer === null || message.id === answer ? steps : steps - 1;
    if (at <= step || at > last) continue;
    step = at;
    yield { message, at };
  }
}

const stepOfCalls = (message: Message, turn: number): number | null => {
  const [call] = toolCallsOf(message);
  const [, inTurn, step] = /^(\d+)\.(\d+)\.\d+$/u.exec(call?.callId ?? "") ?? [];
  return Number(inTurn) === turn ? Number(step) : null;
};

const partsOfReply = ({ parts }: Message, turn: number, step: number): readonly AskPart[] => {
  let position = 0;
  return parts.flatMap((part): readonly AskPart[] => {
    switch (part.type) {
      case "text":
      case "reasoning":
      case "refusal":
        return part.text === "" ? [] : [{ type: `${part.type}.delta`, turn, step, attempt: 1, text: part.text }];
      case "toolCall": {
        const { callId, name, arguments: written } = part;
        return [{ type: "toolCall", turn, step, position: position++, callId, name, arguments: written }];
      }
      default:
        return [];
    }
  });
};

const resultsOf = (messages: readonly Message[], reply: Message, turn: number, step: number): readonly AskPart[] => {
  const places = new Map(toolCallsOf(reply).map(({ callId }, position) => [callId, position]));
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part): readonly AskPart[] => {
      const position = part.type === "toolResult" ? places.get(part.callId) : undefined;
      if (part.type !== "toolResult" || position === undefined) return [];
      const { callId, name, outcome, content } = part;
      return [{ type: "toolResult", turn, step, position, callId, name, outcome, content: asGiven(content) }];
    }),
  );
};

/** Returns content as a tool gave it, which is usually a text. */
const asGiven = (content: readonly ContentPart[]): Content => {
  const [only, ...others] = content;
  return only?.type === "text" && only.provider === undefined && others.length === 0 ? only.text : content;
};
