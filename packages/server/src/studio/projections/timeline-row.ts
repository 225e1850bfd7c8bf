import {
  type Content,
  contentText,
  type Entry,
  type MessageDraft,
  outstanding,
  type ReplyDraft,
  type State,
  type StateValue,
} from "@colloquy/machine";
import { turnOfEffect } from "@colloquy/machine/hosting";
import type { Cut } from "@colloquy/machine/policies";
import type { RowKind, TimelineRow } from "../wire/wire.ts";

/** Returns an entry as a row of the timeline. Pure. @param before null for the first */
export const rowOf = (entry: Entry, before: State | null, after: State): TimelineRow => ({
  seq: entry.seq,
  at: entry.event.at,
  type: entry.event.type,
  kind: kindOf(entry.event),
  turn: turnOf(entry.event, before, after),
  words: beginning(entry.redacted === true ? "" : wordsOf(entry.event, before)),
  place: placeOf(after.value),
  asks: asksModel(before, after),
  marks: marksOf(entry),
});

/** Returns whether an answering model call was requested between two states: it is another object then. */
export const asksModel = (before: State | null, after: State): boolean => {
  const stage = after.context.open?.stage;
  const last = before?.context.open?.stage;
  return (
    stage?.type === "responding" && !(last?.type === "responding" && isSameCall(last.call, stage.call, before, after))
  );
};

type Responding = Extract<NonNullable<State["context"]["open"]>["stage"], { readonly type: "responding" }>;

/** Returns whether two objects are the same call; a journalled piece of a reply creates another object for it. */
const isSameCall = (last: Responding["call"], call: Responding["call"], before: State | null, after: State): boolean =>
  last.attempt === call.attempt &&
  before?.context.open?.number === after.context.open?.number &&
  before?.context.open?.step === after.context.open?.step;

export const placeOf = (value: StateValue): string =>
  typeof value === "string" ? value : String(Object.values(value)[0]);

/** Returns the beginning of a text in one line. */
export const beginning = (text: string, most: number = wordsMax): string =>
  text
    .slice(0, most * 2)
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, most)
    .toWellFormed();

const wordsMax = 200;

const kindOf = (event: Entry["event"]): RowKind => {
  const { type } = event;
  if (isOfSummary(event)) return "system";
  if (type === "ask.received" || type === "message.appended") return "user";
  if (type === "llm.completed" || type === "llm.progressed" || type === "output.accepted") return "assistant";
  if (type === "llm.failed" || type === "tool.failed" || type === "output.refused") return "failure";
  if (type === "tool.withheld" || type === "approval.answered") return "approval";
  if (type.startsWith("tool.")) return "tool";
  return type === "thread.started" || type.startsWith("system.") ? "system" : "other";
};

/** Returns whether an event is the outcome of a summary, which runs in the background and answers no ask. */
const isOfSummary = (event: Entry["event"]): boolean =>
  (event.type === "llm.completed" || event.type === "llm.failed") && turnOfEffect(event.effectId) === null;

/** Returns the turn of an entry; for an outcome that ends a turn, that turn. */
const turnOf = (event: Entry["event"], before: State | null, after: State): number | null => {
  if ("turn" in event && typeof event.turn === "number") return event.turn;
  if (event.type === "turn.added") return after.context.conversation.turns.length;
  const open = event.type === "ask.received" ? null : (before?.context.open ?? null);
  // A timer can also open a turn, for a queued ask.
  return (open ?? after.context.open)?.number ?? null;
};

const wordsOf = (event: Entry["event"], before: State | null): string => {
  switch (event.type) {
    case "thread.started":
      return event.system === undefined ? event.threadId : textOfDraft(event.system);
    case "system.changed":
      return event.system === null ? "none" : textOfDraft(event.system);
    case "ask.received":
      return inputText(event.input);
    case "message.appended":
      return contentText(event.message.content);
    case "llm.completed":
      return replyText(event.reply);
    case "llm.progressed":
      return replyText(event.partial);
    case "llm.failed":
      return event.failure.message;
    case "tool.started":
      return callNamed(event.effectId, before);
    case "tool.withheld":
      return `${callNamed(event.effectId, before)} waits for approval`;
    case "approval.answered":
      return `${callNamed(event.effectId, before)} ${event.approved ? "approved" : "denied"}${event.by === undefined ? "" : ` by ${event.by}`}${event.reason === undefined ? "" : `: ${event.reason}`}`;
    case "tool.completed":
    case "tool.failed":
      return `${callNamed(event.effectId, before)} → ${contentText(event.content ?? null)}`;
    case "timer.fired":
      return askWoken(before) ?? membersOf(event);
    default:
      return membersOf(event);
  }
};

/** Returns the text of the queued ask whose turn a timer opens. */
const askWoken = (before: State | null): string | undefined => {
  const waiting = before?.context.open === null ? before.context.queue[0] : undefined;
  return waiting === undefined ? undefined : inputText(waiting.input);
};

const membersOf = ({ type: _, at: __, ...rest }: Entry["event"]): string =>
  Object.entries(rest)
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");

const textOfDraft = (draft: string | { readonly content: Content }): string =>
  typeof draft === "string" ? draft : contentText(draft.content);

const inputText = (input: Content | readonly MessageDraft[]): string =>
  typeof input === "string"
    ? input
    : input.map((part) => contentText("role" in part ? part.content : [part])).join(" ");

const replyText = ({ content = "", toolCalls = [] }: ReplyDraft): string => {
  const text =
    typeof content === "string"
      ? content
      : content.map((part) => ("text" in part ? part.text : contentText([part]))).join(" ");
  return [text, ...toolCalls.map(({ name, arguments: given }) => `${name}(${given})`)]
    .filter((words) => words !== "")
    .join(" ");
};

const callNamed = (effectId: string, before: State | null): string => {
  const effect = before === null ? undefined : outstanding(before).find(({ id }) => id === effectId);
  return effect?.type === "callTool" || effect?.type === "requestApproval" ? effect.name : effectId;
};

const leavesOut = ({ from, dropped, shrink, fields, system }: Cut): boolean =>
  from !== null || [dropped, shrink, fields, system].some((part) => part !== undefined);

/** Returns marks of one word: the decisions beside the event, and later changes of the entry. */
const marksOf = (entry: Entry): readonly string[] => {
  const { decided = {}, recovered } = "decided" in entry || "recovered" in entry ? entry : {};
  const words: readonly (readonly [boolean, string])[] = [
    [entry.redacted === true, "redacted"],
    [recovered === true, "recovered"],
    [isOfSummary(entry.event), "summary"],
    [decided.queued !== undefined, "queued"],
    [decided.joins === true, "steers"],
    [decided.interrupts === true, "interrupts"],
    [decided.cut !== undefined && leavesOut(decided.cut), "cut"],
    [decided.summary !== undefined, "summary asked"],
    [decided.compacting !== undefined, "waits for summary"],
    [decided.retry !== undefined, "retry"],
    [decided.limit !== undefined, "limit"],
    [decided.unfit !== undefined, "does not fit"],
    [decided.policyFailed !== undefined, "policy failed"],
    [decided.fullness !== undefined && decided.fullness.is !== "within", "nearly full"],
  ];
  return words.filter(([is]) => is).map(([, word]) => word);
};
