import { chunkSize } from "../thread/chunks.ts";
import { canonicalText } from "../thread/make-message.ts";
import { isObject, describeValueProblem, type ValueProblem, within, wrong } from "../thread/plain-data.ts";
import { contentPart, replyPartShapes } from "./protocol/message-forms.ts";
import {
  bool,
  byTag,
  count,
  json,
  jsonObject,
  list,
  mustBe,
  nullable,
  number,
  object,
  oneOf,
  optional,
  type Shape,
  text,
} from "./protocol/shape.ts";

/**
 * Returns why an actor cannot continue from a stored XState snapshot, or null if it can. It checks each member that
 * the machine reads, and that the state value fits the stage of the open turn.
 */
export const problemOfPersisted = (value: unknown, context: unknown): string | null => {
  const problem = contextShape(context);
  if (problem !== null) return describeValueProblem(problem, "it");
  const stage = stageOf(context);
  return valuesOf(stage).some((fitting) => canonicalText(fitting) === canonicalText(value))
    ? null
    : `its state is ${JSON.stringify(value)}, and its open turn is ${stage === null ? "none" : `"${stage}"`}`;
};

/** Returns the stage of the open turn. The shape of the context has been checked before. */
const stageOf = (context: unknown): string | null => {
  const open = isObject(context) ? context["open"] : null;
  const stage = isObject(open) ? open["stage"] : null;
  const type = isObject(stage) ? stage["type"] : null;
  return typeof type === "string" ? type : null;
};

const valuesOf = (stage: string | null): readonly unknown[] => {
  if (stage === null) return ["idle", "completed", "error"];
  return stage === "running"
    ? [{ awaiting_tool: "running" }, { awaiting_tool: "awaiting_approval" }]
    : [{ awaiting_llm: stage }];
};

const role = oneOf("system", "developer", "user", "assistant", "tool");
const provider = optional(jsonObject);
const call = { callId: text, providerCallId: nullable(text), name: text };
const part = byTag("type", {
  ...replyPartShapes,
  toolCall: object({ ...call, arguments: text, provider }),
  toolResult: object({ ...call, outcome: text, content: list(contentPart.shape) }),
});
const message = object({ id: text, role, parts: list(part), digest: text, name: optional(text), provider });
const messages = list(message);

/** Checks a list in nested chunks, and that it holds as many elements as its `length` says. */
const chunks =
  (element: Shape): Shape =>
  (value) => {
    const problem = object({ length: count, levels: list(list(json)) })(value);
    if (problem !== null) return problem;
    // The shape was checked above.
    const { length, levels } = value as { readonly length: number; readonly levels: readonly (readonly unknown[])[] };
    let held = 0;
    for (const [level, nodes] of levels.entries()) {
      const wrongNode = list(nested(element, level))(nodes);
      if (wrongNode !== null) return within("levels", within(level, wrongNode));
      held += nodes.length * chunkSize ** level;
    }
    return held === length ? null : within("length", wrong(`is ${length}, and ${held} elements are there`));
  };

/** Checks an element at level 0. At a higher level it checks a full node of nodes of the level below. */
const nested = (element: Shape, level: number): Shape =>
  level === 0
    ? element
    : (value) =>
        Array.isArray(value) && value.length === chunkSize
          ? list(nested(element, level - 1))(value)
          : mustBe(`a list of ${chunkSize}`, value);

const tally = object({ sum: number, reported: count, unreported: count });
const usage = object({
  calls: count,
  inputTokens: tally,
  outputTokens: tally,
  totalTokens: tally,
  cost: jsonObject,
});
const ask = object({ askId: text, askedAt: number });
const turn = object({
  number: count,
  parent: count,
  asks: list(ask),
  outcome: object({ status: oneOf("completed", "failed", "cancelled") }),
  messages: chunks(message),
  usage,
  steps: count,
  toolCalls: count,
  startedAt: number,
  endedAt: number,
  summaries: optional(list(object({ number: count, from: count, text }))),
  place: object({ turns: count, messages: count, characters: count, straightFrom: count }),
});

const pin = object({ turn: count, message: text });
const position = object({ turn: count, unit: count });
const cut = object({
  policy: text,
  from: nullable(position),
  dropped: optional(list(text)),
  shrink: optional(list(object({ rule: text, of: text, characters: count, before: optional(position) }))),
  fields: optional(jsonObject),
  interrupted: oneOf("keep", "omit"),
});

const waiting = { attempt: count, dueAt: number };
const roundCall = object({
  ...call,
  arguments: text,
  started: bool,
  attempt: count,
  approval: nullable(object({ status: oneOf("required", "requested", "granted") })),
  result: nullable(message),
});
const stage = byTag("type", {
  responding: object({ call: object({ attempt: count, cut, system: nullable(message), pins: list(pin) }) }),
  backing_off: object(waiting),
  compacting: object(waiting),
  checking: object({ finishReason: nullable(text) }),
  running: object({ calls: list(roundCall) }),
});
const queuedAsk = object({ askId: text, input: json, at: number });

const open = object({
  number: count,
  parent: count,
  asks: list(ask),
  startedAt: number,
  messages: chunks(message),
  waiting: messages,
  joining: list(queuedAsk),
  made: count,
  step: count,
  toolCalls: count,
  usage,
  answer: nullable(text),
  metadata: nullable(jsonObject),
  model: jsonObject,
  limits: jsonObject,
  deadlineAt: nullable(number),
  stage,
});

const conversation = object({
  system: nullable(message),
  systems: count,
  firstSystem: nullable(message),
  seed: messages,
  turns: chunks(turn),
  head: count,
  appended: messages,
  pins: list(pin),
  shortened: list(object({ turn: count, characters: number })),
  checkpoints: jsonObject,
});

const members = object({
  threadId: text,
  seq: count,
  createdAt: number,
  updatedAt: number,
  metadata: jsonObject,
  conversation,
  usage: object({ total: usage, betweenTurns: usage }),
  open: nullable(open),
  queue: list(queuedAsk),
  waking: nullable(object({ seq: count, dueAt: number })),
  cut: nullable(cut),
  configuration: object({ fingerprint: text }),
  model: jsonObject,
  summarising: nullable(object({ number: count, covers: jsonObject, instruction: text, model: jsonObject })),
  summaries: count,
  fullness: oneOf("within", "approaching_limit", "at_limit"),
  measured: nullable(object({ counted: number, reported: number })),
  room: nullable(object({ tokens: count, turn: count })),
  dropped: list(ask),
  forkedFrom: nullable(jsonObject),
});

/** Checks the members, and that the turn at the head exists. */
const contextShape: Shape = (value) => {
  const problem = members(value);
  if (problem !== null) return problem;
  // The shape was checked above.
  const { conversation: thread } = value as { readonly conversation: { head: number; turns: { length: number } } };
  const { head, turns } = thread;
  const beyond: ValueProblem = wrong(`is ${head}, and there are ${turns.length} turns`);
  return head <= turns.length ? null : within("conversation", within("head", beyond));
};
