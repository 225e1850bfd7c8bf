import type { CallLlm, Decided, Effect, Event, Handled, JsonObject, State } from "@colloquy/machine";
import { leafOf } from "@colloquy/runtime-test";

import type { Played, PlayedStep } from "./record.ts";
import type { Named } from "./vector.ts";

/** Returns the features that a played script shows, each as a text; a set of vectors must cover them. */
export const featuresOf = ({ script, steps }: Played): ReadonlySet<string> =>
  new Set([...seedFeatures(script.start.seed), ...steps.flatMap(featuresOfStep)]);

const seedFeatures = (seed: unknown): readonly string[] => (seed === undefined ? [] : ["start with a seed"]);

const featuresOfStep = (played: PlayedStep): readonly string[] => {
  const { before, answer, machine } = played;
  const { event, recovered } = played.step;
  const leaf = leafOf(before);
  if (!answer.handled) return [`${event.type} in ${leaf} is refused as ${answer.refusal.kind}`];
  return [
    `${event.type} leads from ${leaf} to ${leafOf(answer.state)}`,
    ...(recovered === true ? [`${event.type} is sent by a recovery`] : []),
    ...membersOf(event).map((name) => `${event.type} has ${name}`),
    ...wordsOf(event).map((word) => `${event.type} says ${word}`),
    ...overlapFeatures(played, leaf),
    ...decidedFeatures(event, answer.entry.decided ?? {}),
    ...answer.effects.flatMap(effectFeatures),
    ...changesOf(before, answer).map((name) => `${event.type} changes ${name}`),
    ...policiesIn(machine.policy).map((name) => `${name} decides`),
  ];
};

const membersOf = (event: Event): readonly string[] =>
  Object.keys(event).filter((name) => !["type", "at", "effectId"].includes(name));

/** Returns members with few possible values, such as the kind of a failure. */
const wordsOf = (event: Event): readonly string[] => {
  switch (event.type) {
    case "llm.failed":
      return [`${event.failure.kind}${event.failure.retryable ? ", retryable" : ""}`];
    case "tool.failed":
      return [event.outcome];
    case "tool.withheld":
      return [event.because];
    case "approval.answered":
      return [String(event.approved)];
    case "message.appended":
      return [event.message.role];
    case "message.pinned":
      return [String(event.pinned)];
    case "head.moved":
      return [typeof event.to];
    case "llm.completed":
      return [
        ...(event.reply.toolCalls === undefined || event.reply.toolCalls.length === 0 ? [] : ["tool calls"]),
        ...(typeof event.reply.content === "object" ? ["parts"] : []),
        ...Object.keys(event.reply),
      ];
    default:
      return [];
  }
};

const overlapFeatures = ({ step: { event }, machine }: PlayedStep, leaf: string): readonly string[] =>
  event.type === "ask.received" ? [`an ask comes in ${leaf} under ${event.overlap ?? machine.overlap?.type}`] : [];

const decidedFeatures = (event: Event, decided: Decided): readonly string[] => [
  ...Object.keys(decided).map((name) => `${event.type} has ${name} decided`),
  ...(decided.limit === undefined ? [] : [`${decided.limit.limit} is reached by ${event.type}`]),
  ...(decided.unchecked === undefined ? [] : [`an output is unchecked as ${decided.unchecked}`]),
  ...(decided.fullness === undefined ? [] : [`a prompt is ${decided.fullness.is}`]),
  ...(decided.results ?? []).map(({ outcome }) => `${event.type} has a result synthesised as ${outcome}`),
  ...Object.entries(decided.cut ?? {})
    .filter(([, value]) => value !== null)
    .map(([name]) => `a cut by ${decided.cut?.policy} has ${name}`),
  ...(decided.cut?.shrink ?? []).map(({ rule, of }) => `a cut shrinks ${of} by ${rule}`),
  ...(decided.cost === undefined ? [] : [`a call costs ${decided.cost.currency}`]),
];

const effectFeatures = (effect: Effect): readonly string[] => {
  if (effect.type === "publish") return [`publish ${[effect.signal.type, ...wordsOfSignal(effect.signal)].join(" ")}`];
  if (effect.type === "callLlm") return [`callLlm for ${effect.purpose}`, ...promptFeatures(effect)];
  if (effect.type === "startTimer") return [`startTimer for ${effect.purpose}`];
  if (effect.type === "callTool")
    return [`callTool ${effect.by ?? "by the host"}, ${effect.approval === null ? "no approval" : "approval"}`];
  if (effect.type === "requestApproval") return [`requestApproval because ${effect.because}`];
  return [effect.type];
};

const wordsOfSignal = (signal: object): readonly string[] =>
  ["status", "outcome", "warning", "purpose"].flatMap((name) => {
    const word = new Map<string, unknown>(Object.entries(signal)).get(name);
    return typeof word === "string" ? [word] : [];
  });

const promptFeatures = ({ messages, output, idleTimeoutMs, tools }: CallLlm): readonly string[] => [
  ...messages.flatMap(({ role, parts, id: _, digest: __, parts: ___, role: ____, ...more }) => [
    ...parts.map(({ type }) => `a prompt has ${type} of ${role}`),
    ...Object.keys(more).map((name) => `a message of ${role} in a prompt has ${name}`),
  ]),
  ...(output === undefined ? [] : [`callLlm wants an output, ${output.mode}`]),
  ...(idleTimeoutMs === undefined ? [] : ["callLlm has idleTimeoutMs"]),
  ...(tools === undefined || tools.length === 0 ? [] : ["callLlm offers tools"]),
];

/** Returns the members of the context that changed, and those of the thread and the open turn one by one. */
const changesOf = (before: State, { state }: Handled): readonly string[] => {
  const [old, next] = [contextOf(before), contextOf(state)];
  return Object.keys(next).flatMap((name) => {
    const [from, to] = [old[name], next[name]];
    if (["seq", "updatedAt"].includes(name) || isSame(from, to)) return [];
    if (!["conversation", "open"].includes(name) || !isObject(from) || !isObject(to)) return [name];
    const inner = [...new Set([...Object.keys(from), ...Object.keys(to)])].filter((each) => !ofAsks.includes(each));
    return inner.filter((each) => !isSame(from[each], to[each])).map((each) => `${name}.${each}`);
  });
};

/** Members that follow from the asks in a turn. */
const ofAsks: readonly string[] = ["metadata", "model", "limits", "callerTools", "output", "deadlineAt"];

// A state is plain JSON.
const contextOf = ({ context }: State): JsonObject => context as unknown as JsonObject;

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null;

/** Unchanged parts are mostly the same reference. */
const isSame = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

const policiesIn = ({ name, options }: Named): readonly string[] =>
  // A composition names its policies in the same form.
  name === "compose" ? [name, ...(options["policies"] as unknown as readonly Named[]).flatMap(policiesIn)] : [name];
