import {
  type Content,
  type ContentPart,
  type Message,
  type State,
  toArray,
  toolCallsOf,
  type Turn,
} from "@colloquy/machine";
import { textOfDelta, withText } from "../ask/joined-parts.ts";
import type { AskPart } from "../ask/parts.ts";

/** A part that the journal gives, and its index among all that it gives of the turn, from 1. */
export interface ReplayedPart {
  readonly index: number;
  readonly part: AskPart;
}

/** What of a turn is shown again. */
interface ReplayedTurn extends Pick<Turn, "number" | "asks" | "steps"> {
  readonly messages: readonly Message[];
  readonly answer: string | null;
  /** Null while it is open. */
  readonly outcome: Turn["outcome"] | null;
}

/**
 * What is shown of a turn by its journal alone: whole texts, calls and results in the order of the calls. The same turn gives
 * the same parts in every process; one that goes on gives more of them later, at the end.
 */
export const replayOf = ({ answer, messages, ...turn }: Turn): readonly AskPart[] =>
  replay({ ...turn, answer: answer ?? null, messages: toArray(messages) });

/** The same of a turn that is open, as far as it is journalled. */
export const replayOfOpen = ({ number, asks, messages, step, stage }: NonNullable<OpenTurn>): readonly AskPart[] => {
  const results = stage.type === "running" ? stage.calls.flatMap(({ result }) => result ?? []) : [];
  const said = [...toArray(messages), ...results];
  // While a call is out its step has no reply: an assistant message that was appended would be taken for one.
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

/**
 * What the journal gives of a turn and was not shown yet. Where what was shown of a step is not what became of it, the step is
 * shown anew, behind `replay.started`.
 */
export const notShown = (shown: readonly AskPart[], whole: readonly AskPart[]): readonly ReplayedPart[] => {
  const seen = seenIn(shown);
  const rest: ReplayedPart[] = [];
  for (const [index, part] of whole.entries()) {
    const left = seen.leftOf(part);
    // Nothing can be added to a step after a later one was shown.
    const isTooLate = left !== null && part.type !== "step.ended" && stepOf(part) < seen.newest && "step" in part;
    if (left === "differs" || isTooLate) return anewFrom(stepOf(part), whole, rest);
    if (left !== null) rest.push({ index: index + 1, part: left });
  }
  return shown.length === 0 ? anewFrom(1, whole, []) : rest;
};

/** Whether what was shown of a turn that ended is what its journal says, as it is not where words were redacted since. */
export const agrees = (shown: readonly AskPart[], whole: readonly AskPart[]): boolean => {
  const seen = seenIn(shown);
  return whole.every((part) => seen.leftOf(part) !== "differs");
};

const anewFrom = (
  step: number,
  whole: readonly AskPart[],
  before: readonly ReplayedPart[],
): readonly ReplayedPart[] => {
  const found = whole.findIndex((part) => part.type === "step.started" && part.step === step);
  const from = step === 1 ? 0 : found;
  const turn = whole[0]?.type === "turn.started" ? whole[0].turn : 0;
  return [
    ...before.filter(({ index }) => index <= from),
    { index: from, part: { type: "replay.started", turn, step, synthesised: true } },
    ...whole.slice(from).map((part, offset) => ({ index: from + offset + 1, part })),
  ];
};

/** What was seen of a turn, step by step; what became void is not seen. */
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
  // Of steps before the first that is known, the parts were let go.
  const first = hasStarted ? 1 : Math.min(...steps.keys(), Infinity);
  const leftOf = (part: AskPart): AskPart | "differs" | null => {
    if (part.type === "turn.started") return shown.length > 0 ? null : part;
    if (!("step" in part)) return part;
    const step = steps.get(part.step);
    if (step === undefined) return part.step < first && first !== Infinity ? null : part;
    return leftInStep(step, part);
  };
  return { leftOf, newest };
};

interface SeenStep {
  attempt: number;
  /** What is seen, by the type of the deltas. */
  readonly texts: Map<AskPart["type"], string>;
  /** Calls and results, by what names them, and their ends. */
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

/** What of a part was not seen, which counts as seen from here on. */
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

/** What a whole part is known by, and what it says. */
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
 * The replies of models, each with its step. A step is known by the calls of its reply, and by the answer; another assistant
 * message was a reply where there is a step for it.
 */
function* repliesIn({ number, messages, answer, steps }: ReplayedTurn) {
  let step = 0;
  for (const message of messages) {
    if (message.role !== "assistant" || message.synthesised === true) continue;
    const at = message.id === answer ? steps : (stepOfCalls(message, number) ?? step + 1);
    // The last step is the answer's.
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

/** Mostly a tool gave a text. */
const asGiven = (content: readonly ContentPart[]): Content => {
  const [only, ...others] = content;
  return only?.type === "text" && only.provider === undefined && others.length === 0 ? only.text : content;
};
