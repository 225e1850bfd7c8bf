import type {
  CallTool,
  Content,
  RequestApproval,
  Signal,
  State,
  ToolCompleted,
  ToolFailed,
  ToolOutcome,
  TurnStatus,
} from "@colloquy/machine";
import { approvalsOf, callsToAnswer } from "@colloquy/machine";

/**
 * A piece of what happens to an ask, in order. Deltas are text as the model writes it. When an attempt fails and
 * another is made (the signal `retry.scheduled`), its text starts over, with the next `attempt`.
 */
export type AskPart<Written = undefined> =
  | { readonly type: "turn.started"; readonly turn: number; readonly askIds: readonly string[] }
  | { readonly type: "step.started"; readonly turn: number; readonly step: number }
  | TextDelta
  | ToolCallDelta
  | ToolCallPart
  | ToolResultPart
  | OutputPartial<Written>
  /** A tool call waits for approval: `thread.approve(request.id)` or `deny`. */
  | {
      readonly type: "approval.requested";
      readonly turn: number;
      readonly step: number;
      readonly request: RequestApproval;
    }
  | ResultRequestedPart
  | { readonly type: "step.ended"; readonly turn: number; readonly step: number }
  | { readonly type: "signal"; readonly signal: AskSignal }
  /**
   * Another host holds the thread: the ask was posted to its inbox, and its journal is followed. If that host is dead,
   * its lease expires by `until`, and this host continues. `until` is in milliseconds since the epoch and follows from
   * this host's `leaseTtlMs`. A live host may take longer.
   */
  | { readonly type: "wait.started"; readonly for: "lease"; readonly until: number }
  /**
   * The model call is queued (`limitCalls`), until the given time in milliseconds since the epoch; null if that is
   * unknown.
   */
  | { readonly type: "wait.started"; readonly for: "model"; readonly until: number | null }
  /** The wait is over: this host has the thread now, the other host handled the ask, or the model is called. */
  | { readonly type: "wait.ended" }
  /** The thread was busy, and the ask continues in this fork of it, after that turn (`whenBusy: "fork"`). */
  | { readonly type: "thread.forked"; readonly threadId: string; readonly turn: number }
  /**
   * This host lost the thread: what was shown of the step in progress is void. The step is made again, and shown by the
   * host that makes it: here only if the thread comes back.
   */
  | { readonly type: "thread.lost"; readonly turn: number }
  /**
   * The parts start over at this step of the turn: what was shown of it and of later ones is void. `synthesised`: the
   * parts are made from the journal, since the shown ones are not kept any more. They have whole texts and calls,
   * without deltas and signals.
   */
  | {
      readonly type: "replay.started";
      readonly turn: number;
      readonly step: number;
      readonly synthesised: boolean;
    }
  /** The number of older parts that were dropped: they were not read in time, or are not kept any more. */
  | { readonly type: "parts.dropped"; readonly count: number }
  /** The last part. */
  | { readonly type: "turn.ended"; readonly turn: number; readonly status: Exclude<TurnStatus, "open"> };

/** A notice about a turn or an ask, if no part says the same. */
export type AskSignal = Exclude<
  Signal,
  { readonly type: "turn.started" | "turn.ended" | "thread.updated" | "model.replied" | "model.failed" | "tool.ended" }
>;

/** Text that a model wrote as its answer, its reasoning, or its refusal. Deltas that are not read yet are joined. */
export interface TextDelta extends Place {
  readonly type: "text.delta" | "reasoning.delta" | "refusal.delta";
  readonly attempt: number;
  readonly text: string;
}

/**
 * The output that the ask wants, as far as the model has written it: never validated. Values that may still grow are
 * left out. Each part holds the whole output so far; a long output is shown in larger steps.
 */
export interface OutputPartial<Written = undefined> extends Place {
  readonly type: "output.partial";
  /** From 1. One more each time that an answer did not fit and the model is asked again. */
  readonly attempt: number;
  readonly value: [Written] extends [undefined] ? unknown : DeepPartial<Written>;
}

/** A value while it is being written: any member may still be missing. */
export type DeepPartial<Written> = Written extends readonly (infer Element)[]
  ? readonly DeepPartial<Element>[]
  : Written extends object
    ? { readonly [Name in keyof Written]?: DeepPartial<Written[Name]> }
    : Written;

/** A piece of a tool call that a model is writing. */
export interface ToolCallDelta extends CallPlace {
  readonly type: "toolCall.delta";
  readonly attempt: number;
  /** The provider's id for the call, if known yet: not unique. */
  readonly providerCallId: string | null;
  /** The name as far as it was written. */
  readonly name: string;
  /** The new piece. */
  readonly arguments: string;
}

/** A tool call that a model asked for, whole and journalled. */
interface ToolCallPart extends CallPlace {
  readonly type: "toolCall";
  readonly name: string;
  readonly arguments: string;
}

/**
 * A call of one of the caller's tools, which waits for its result: `thread.answerTool(callId, …)`. The arguments are as
 * the model wrote them.
 */
interface ResultRequestedPart extends CallPlace {
  readonly type: "result.requested";
  readonly name: string;
  readonly arguments: string;
}

/** The outcome of a tool call. Results are shown as they arrive, in any order. */
export interface ToolResultPart extends CallPlace {
  readonly type: "toolResult";
  readonly name: string;
  readonly outcome: ToolOutcome;
  readonly content: Content | null;
}

interface Place {
  readonly turn: number;
  readonly step: number;
}

/** The tool call of a step that a part is about: the same from its first piece to the store. */
interface CallPlace extends Place {
  /** The index among the calls of the reply, from 0. */
  readonly position: number;
  /** The id of the call in messages, approvals and the input of tools. */
  readonly callId: string;
}

/** Returns the requests that the open turn waits for, as they were first shown. */
export const partsAwaited = (state: State): readonly AskPart[] =>
  state.context.open?.stage.type === "running"
    ? [...approvalsOf(state).map(approvalPart), ...callsToAnswer(state).map(resultRequested)]
    : [];

/** Makes the part of a call that waits for approval. */
export const approvalPart = (request: RequestApproval): AskPart => {
  const { turn, step } = request;
  return { type: "approval.requested", turn, step, request };
};

/** Makes the part of a call that waits for the caller. */
export const resultRequested = ({ turn, step, position, callId, name, arguments: written }: CallTool): AskPart => ({
  type: "result.requested",
  turn,
  step,
  position,
  callId,
  name,
  arguments: written,
});

/** Makes the part of an answer that a tool gave, or the caller in its place. */
export const resultPart = (
  { turn, step, position, callId, name }: CallTool,
  event: ToolCompleted | ToolFailed,
): ToolResultPart => {
  const outcome = event.type === "tool.completed" ? "completed" : event.outcome;
  return { type: "toolResult", turn, step, position, callId, name, outcome, content: event.content };
};
