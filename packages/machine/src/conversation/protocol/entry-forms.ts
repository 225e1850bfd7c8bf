import type { TurnRange } from "../../prompt/cut.ts";
import type { SummaryTask } from "../../prompt/policy.ts";
import type { ContextUnfit, LimitReached } from "../../thread/turn.ts";
import type { Cost } from "../../thread/usage.ts";
import { cut, fields, id, inOrder } from "./cut-forms.ts";
import { type Decided, type FirstEntry, journalFormat, type LaterEntry, type SynthesisedResult } from "./entry.ts";
import type { Event, EventType, ThreadStarted } from "./event.ts";
import { beginning, event, failedOutcome, filled, limitsOf } from "./event-forms.ts";
import {
  closed,
  count,
  json,
  keep,
  type Lasting,
  list,
  mark,
  nullable,
  number,
  object,
  oneOf,
  optional,
  ruled,
  type Shape,
  shaped,
  shapeOf,
  words,
} from "./form.ts";
import { contentPart } from "./message-forms.ts";

const positive = ruled(count, (value) => value > 0, "a whole number of 1 or more");

const turns = inOrder(closed<TurnRange>({ from: count, to: count }));

const summary = closed<SummaryTask>({
  covers: turns,
  earlier: nullable(turns),
  interrupted: optional(oneOf("omit")),
  fields: optional(fields),
  characters: optional(count),
  unfit: optional(closed<NonNullable<SummaryTask["unfit"]>>({ tokens: number, available: number })),
});

/**
 * Decisions. All of them stay in a redaction, since folding applies them; only their texts are replaced. Others are
 * refused, because folding must stop at a decision that this version does not know.
 */
const decided = closed<Decided>({
  queued: optional(count),
  supersedes: optional(mark),
  interrupts: optional(mark),
  joins: optional(mark),
  goesOn: optional(mark),
  opens: optional(positive),
  approvals: optional(list(count)),
  deadlineAt: optional(number),
  cut: optional(cut),
  retry: optional(closed<NonNullable<Decided["retry"]>>({ attempt: count, dueAt: number })),
  room: optional(count),
  unchecked: optional(oneOf("refused", "cut")),
  results: optional(
    list(closed<SynthesisedResult>({ position: count, outcome: failedOutcome, content: list(contentPart) })),
  ),
  limit: optional(
    closed<LimitReached>({
      limit: oneOf("steps", "toolCalls", "tokens", "costNano", "deadlineMs"),
      allowed: number,
      reached: number,
    }),
  ),
  unfit: optional(
    closed<ContextUnfit>({
      tokens: number,
      available: number,
      budget: count,
      reserve: count,
      fixed: number,
      largest: nullable(closed<NonNullable<ContextUnfit["largest"]>>({ message: id, tokens: number })),
    }),
  ),
  compacting: optional(closed<NonNullable<Decided["compacting"]>>({ dueAt: number })),
  summary: optional(summary),
  summaryFailed: optional(words),
  summaryStale: optional(mark),
  fullness: optional(
    closed<NonNullable<Decided["fullness"]>>({
      is: oneOf("within", "approaching_limit", "at_limit"),
      tokens: number,
      available: number,
    }),
  ),
  counted: optional(ruled(number, (value) => value >= 0, "0 or more")),
  cost: optional(closed<Cost>({ nano: ruled(number, Number.isSafeInteger, "a whole number"), currency: id })),
  policyFailed: optional(words),
  kept: optional(count),
});

const calls = ruled(list(keep(json)), ({ length }) => length > 0, "a list of at least one call");
const strictly: { readonly [Type in EventType]?: Shape } = {
  "ask.received": shapeOf({ askId: filled, limits: optional(limitsOf(count)) }),
  "round.appended": shapeOf({ reply: shaped(shapeOf({ toolCalls: calls })) }),
};

/** An event as a journal has it, with the rules that the machine checks in any state. */
export const journalled: Lasting<Event> = {
  shape: (value) =>
    // The form has checked that it is an event.
    event.shape(value) ?? strictly[(value as Event).type]?.(value) ?? null,
  redact: event.redact,
};

export const firstEntry = object<FirstEntry>({
  seq: oneOf(0),
  format: oneOf(journalFormat),
  event: object<ThreadStarted>({ type: oneOf("thread.started"), ...beginning }),
  redacted: optional(mark),
});

export const laterEntry = object<LaterEntry>({
  seq: positive,
  event: journalled,
  decided: optional(decided),
  recovered: optional(mark),
  redacted: optional(mark),
});
