import * as Either from "fp-ts/lib/Either.js";
import type { AnyEventObject, AnyMachineSnapshot, AnyStateMachine, Snapshot } from "xstate";
import { describeValueProblem, frozen, owned, type ValueProblem, within, wrong } from "../thread/plain-data.ts";
import { readEvent } from "./protocol/event-forms.ts";
import { chunkSize } from "../thread/chunks.ts";
import { canonicalText } from "../thread/make-message.ts";
import {
  bool,
  byTag,
  count,
  json,
  jsonObject,
  keep,
  type Lasting,
  list,
  mustBe,
  nullable,
  number,
  oneOf,
  optional,
  type Shape,
  shaped,
  shapeOf,
  text as someText,
} from "./protocol/form.ts";
import type { ConversationData } from "./protocol/data.ts";
import { cut } from "./protocol/cut-forms.ts";
import { contentPart, replyParts } from "./protocol/message-forms.ts";

/**
 * Makes a machine safe to run as a live actor. Its snapshots and their contexts are as immutable as the states of
 * `transition`. Anything but an event changes nothing. A restored actor continues with a copy of the persisted
 * snapshot.
 */
export const guardedMachine = <Machine extends AnyStateMachine>(machine: Machine): Machine => {
  const getInitialSnapshot = machine.getInitialSnapshot.bind(machine);
  const transition = machine.transition.bind(machine);
  const restoreSnapshot = machine.restoreSnapshot.bind(machine);
  const provide = machine.provide.bind(machine);
  const overrides: Pick<AnyStateMachine, "getInitialSnapshot" | "provide" | "restoreSnapshot" | "transition"> = {
    getInitialSnapshot: (...given) => immutable(getInitialSnapshot(...given)),
    transition: (before, given, scope) => {
      const event = takenEvent(given);
      if (event === null) return before;
      const after = transition(before, event, scope);
      // If no action assigned a context, the context may still be the caller's object.
      return after.context === before.context ? after : immutable(after);
    },
    restoreSnapshot: (persisted, ...given) => immutable(restoreSnapshot(withOwnContext(persisted), ...given)),
    provide: (implementations) => guardedMachine(provide(implementations)),
  };
  return Object.assign(machine, overrides);
};

/**
 * Returns the event to pass on to XState: a copy of a valid event, or the event that an actor's `stop()` sends.
 * Returns null for anything else. For some of those XState would throw (a type that is not a string, `*`), and others
 * would stop the actor (`xstate.error.…`).
 *
 * @throws TypeError if the type cannot be read. XState reads it again later, and an error there would leave the actor
 * unresponsive; this error stops the actor with a reason.
 */
const takenEvent = (given: unknown): AnyEventObject | null => {
  if (typeOf(given) === stopping) return { type: stopping };
  const read = readEvent(given);
  return Either.isLeft(read) ? null : read.right;
};

const typeOf = (given: unknown): unknown => {
  if (given === null || given === undefined)
    throw new TypeError(`an event is an object with a type; this is ${String(given)}`);
  return Reflect.get(Object(given), "type");
};

const stopping = "xstate.stop";

/** @throws TypeError for a damaged snapshot: an actor that starts from it would fail at one of its next events. */
const withOwnContext = <Persisted extends Snapshot<unknown>>(persisted: Persisted): Persisted => {
  if (!("context" in persisted)) return persisted;
  const problem = problemOfPersisted("value" in persisted ? persisted.value : undefined, persisted.context);
  if (problem !== null)
    throw new TypeError(`the persisted snapshot is damaged: ${problem}; begin from a whole one, or fold the journal`);
  return Object.assign({}, persisted, { context: owned(persisted.context) });
};

const immutable = (snapshot: AnyMachineSnapshot): AnyMachineSnapshot => {
  frozen(snapshot.context);
  frozen(snapshot.value);
  return Object.freeze(snapshot);
};

/**
 * Returns why an actor cannot continue from a stored XState snapshot, or null if it can. It checks each member that
 * the machine reads, and that the state value fits the stage of the open turn.
 */
const problemOfPersisted = (value: unknown, context: unknown): string | null => {
  const problem = contextShape(context);
  if (problem !== null) return describeValueProblem(problem, "it");
  // Its shape was checked above.
  const stage = (context as ConversationData).open?.stage.type ?? null;
  return valuesOf(stage).some((fitting) => canonicalText(fitting) === canonicalText(value))
    ? null
    : `its state is ${JSON.stringify(value)}, and its open turn is ${stage === null ? "none" : `"${stage}"`}`;
};

const valuesOf = (stage: string | null): readonly unknown[] => {
  if (stage === null) return ["idle", "completed", "error"];
  return stage === "running"
    ? [{ awaiting_tool: "running" }, { awaiting_tool: "awaiting_approval" }]
    : [{ awaiting_llm: stage }];
};

const object = (members: Parameters<typeof shapeOf>[0]): Lasting<object> => keep(shaped(shapeOf(members)));

const text = keep(someText);
const data = keep(jsonObject);
const role = oneOf("system", "developer", "user", "assistant", "tool");
const provider = optional(jsonObject);
const call = { callId: text, providerCallId: nullable(text), name: text };
const part = byTag<{ readonly type: string }, "type">("type", {
  ...replyParts,
  toolCall: object({ ...call, arguments: text, provider }),
  toolResult: object({ ...call, outcome: text, content: list(contentPart) }),
});
const message = object({ id: text, role, parts: list(part), digest: text, name: optional(text), provider });
const messages = list(message);

/** Checks a list in nested chunks, and that it holds as many elements as its `length` says. */
const chunks = (element: Lasting<object>): Lasting<object> => {
  const outer = object({ length: count, levels: list(list(keep(json))) });
  const shape: Shape = (value) => {
    const problem = outer.shape(value);
    if (problem !== null) return problem;
    // The shape was checked above.
    const { length, levels } = value as { readonly length: number; readonly levels: readonly (readonly unknown[])[] };
    let held = 0;
    for (const [level, nodes] of levels.entries()) {
      const wrongNode = list(nested(element, level)).shape(nodes);
      if (wrongNode !== null) return within("levels", within(level, wrongNode));
      held += nodes.length * chunkSize ** level;
    }
    return held === length ? null : within("length", wrong(`is ${length}, and ${held} elements are there`));
  };
  return keep(shaped(shape));
};

/** Checks an element at level 0. At a higher level it checks a full node of nodes of the level below. */
const nested = (element: Lasting<object>, level: number): Lasting<object> => {
  if (level === 0) return element;
  const isFull = (value: unknown): boolean => Array.isArray(value) && value.length === chunkSize;
  const inner = list(nested(element, level - 1));
  return keep(shaped((value) => (isFull(value) ? inner.shape(value) : mustBe(`a list of ${chunkSize}`, value))));
};

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
const waiting = { attempt: count, dueAt: number };
const roundCall = object({
  ...call,
  arguments: text,
  started: bool,
  attempt: count,
  approval: nullable(object({ status: oneOf("required", "requested", "granted") })),
  result: nullable(message),
});
const stage = byTag<{ readonly type: string }, "type">("type", {
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
  metadata: nullable(data),
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
  forkedFrom: nullable(data),
});

/** Checks the members, and that the turn at the head exists. */
const contextShape: Shape = (value) => {
  const problem = members.shape(value);
  if (problem !== null) return problem;
  // The shape was checked above.
  const { head, turns } = (value as ConversationData).conversation;
  const beyond: ValueProblem = wrong(`is ${head}, and there are ${turns.length} turns`);
  return head <= turns.length ? null : within("conversation", within("head", beyond));
};
