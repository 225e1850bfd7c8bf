import type {
  ApprovalAnswered,
  CallTool,
  Content,
  Entry,
  RequestApproval,
  Signal,
  State,
  ToolCompleted,
  ToolFailed,
  ToolOutcome,
  TurnStatus,
} from "@colloquy/machine";
import { approvalsOf, callsToAnswer } from "@colloquy/machine";
import { callIdAt, callToAnswer, denialOf, placeIn } from "@colloquy/machine/hosting";

/**
 * A piece of what happens to an ask, in order. Deltas are what a model writes as it writes it; when an attempt
 * fails and another is made (the signal `retry.scheduled`), its text begins anew, with the next `attempt`.
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
   * Another host holds the thread: the ask was left there, and its journal is followed. Should that host be dead, its lease
   * has run out by `until` (milliseconds since the epoch, by this host's `leaseTtlMs`), and this host goes on. One that is
   * alive may take longer.
   */
  | { readonly type: "wait.started"; readonly for: "lease"; readonly until: number }
  /** The model call waits before it is made (`limitCalls`): until then, in milliseconds since the epoch, or null where that is not known. */
  | { readonly type: "wait.started"; readonly for: "model"; readonly until: number | null }
  /** It goes on: this host has the thread now, the other one did something about the ask, or the model is called. */
  | { readonly type: "wait.ended" }
  /** The thread was busy, and the ask goes on in this fork of it, behind that turn (`whenBusy: "fork"`). */
  | { readonly type: "thread.forked"; readonly threadId: string; readonly turn: number }
  /** This host lost the thread: what was shown of the step that is under way is void. It is made anew, and shown where that happens: here only if the thread comes back. */
  | { readonly type: "thread.lost"; readonly turn: number }
  /**
   * What follows begins anew at this step of the turn: what was shown of it and of later ones is void. `synthesised`: it is made
   * from the journal, since what was shown is not kept any more: whole texts and calls, without deltas and signals.
   */
  | {
      readonly type: "replay.started";
      readonly turn: number;
      readonly step: number;
      readonly synthesised: boolean;
    }
  /** The parts were not read in time, or are not kept any more: this many older ones were let go. */
  | { readonly type: "parts.dropped"; readonly count: number }
  /** The last part. */
  | { readonly type: "turn.ended"; readonly turn: number; readonly status: Exclude<TurnStatus, "open"> };

/** A notice about a turn or an ask, where no part says the same. */
export type AskSignal = Exclude<
  Signal,
  { readonly type: "turn.started" | "turn.ended" | "thread.updated" | "model.replied" | "model.failed" | "tool.ended" }
>;

/** What a model wrote, or thought, or said in declining. Deltas that are not read yet are joined. */
export interface TextDelta extends Place {
  readonly type: "text.delta" | "reasoning.delta" | "refusal.delta";
  readonly attempt: number;
  readonly text: string;
}

/**
 * What there is so far of the output that the ask wants, as the model writes it: never validated. Whatever may still grow is
 * left out. Each one holds all; a long output is shown in larger steps.
 */
export interface OutputPartial<Written = undefined> extends Place {
  readonly type: "output.partial";
  /** From 1; one more each time that an answer did not fit and the model is asked again. */
  readonly attempt: number;
  readonly value: [Written] extends [undefined] ? unknown : DeepPartial<Written>;
}

/** What there may be of a value while it is being written. */
export type DeepPartial<Written> = Written extends readonly (infer Element)[]
  ? readonly DeepPartial<Element>[]
  : Written extends object
    ? { readonly [Name in keyof Written]?: DeepPartial<Written[Name]> }
    : Written;

/** A piece of a tool call that a model is writing. */
export interface ToolCallDelta extends CallPlace {
  readonly type: "toolCall.delta";
  readonly attempt: number;
  /** The provider's name for the call, as far as it is known: not unique. */
  readonly providerCallId: string | null;
  /** As far as it is known. */
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

/** A call of a tool of the caller waits for its result: `thread.answerTool(callId, …)`. The arguments are what the model wrote. */
interface ResultRequestedPart extends CallPlace {
  readonly type: "result.requested";
  readonly name: string;
  readonly arguments: string;
}

/** What a tool call came to. Results come as they arrive, in any order. */
interface ToolResultPart extends CallPlace {
  readonly type: "toolResult";
  readonly name: string;
  readonly outcome: ToolOutcome;
  readonly content: Content | null;
}

interface Place {
  readonly turn: number;
  readonly step: number;
}

/** Which tool call of a step: the same from its first piece to the store. */
interface CallPlace extends Place {
  /** Among the calls of the reply, from 0. */
  readonly position: number;
  /** The id of the call in messages, approvals and what tools are given. */
  readonly callId: string;
}

/** What the open turn waits for from outside, as it was shown when that was asked for. */
export const partsAwaited = (state: State): readonly AskPart[] =>
  state.context.open?.stage.type === "running"
    ? [...approvalsOf(state).map(approvalPart), ...callsToAnswer(state).map(resultRequested)]
    : [];

/** A call waits for approval. */
export const approvalPart = (request: RequestApproval): AskPart => {
  const { turn, step } = request;
  return { type: "approval.requested", turn, step, request };
};

/** A call waits for the caller. */
export const resultRequested = ({ turn, step, position, callId, name, arguments: written }: CallTool): AskPart => ({
  type: "result.requested",
  turn,
  step,
  position,
  callId,
  name,
  arguments: written,
});

/** The answer of a tool, or of the caller in its place. */
export const resultPart = (
  { turn, step, position, callId, name }: CallTool,
  event: ToolCompleted | ToolFailed,
): ToolResultPart => {
  const outcome = event.type === "tool.completed" ? "completed" : event.outcome;
  return { type: "toolResult", turn, step, position, callId, name, outcome, content: event.content };
};

/** The results that an entry brings which no tool of this host gave: the machine's in tools' places, and the caller's. */
export const resultsIn = (entry: Entry, before: State): readonly ToolResultPart[] => {
  const { event } = entry;
  if (event.type === "approval.answered") return [...resultsDenied(event, before), ...resultsDecided(entry, before)];
  if (event.type !== "tool.completed" && event.type !== "tool.failed") return resultsDecided(entry, before);
  const answered = callToAnswer(before, event.effectId);
  return answered === undefined ? [] : [resultPart(answered, event)];
};

/** The result of a call that was not approved. */
const resultsDenied = (event: ApprovalAnswered, before: State): readonly ToolResultPart[] => {
  const request = event.approved
    ? undefined
    : approvalsOf(before).find(({ id }) => placeIn(id) === placeIn(event.effectId));
  if (request === undefined) return [];
  const { turn, step, position, callId, name } = request;
  return [{ type: "toolResult", turn, step, position, callId, name, ...denialOf(request, event) }];
};

const resultsDecided = (entry: Entry, before: State): readonly ToolResultPart[] => {
  const { open } = before.context;
  const results = "decided" in entry ? (entry.decided?.results ?? []) : [];
  if (results.length === 0 || open === null) return [];
  const written = entry.event.type === "llm.completed" ? entry.event.reply.toolCalls : undefined;
  const calls = written ?? (open.stage.type === "running" ? open.stage.calls : []);
  const place = { type: "toolResult", turn: open.number, step: open.step } as const;
  return results.map((result) => ({
    ...place,
    callId: callIdAt(open.number, open.step, result.position),
    ...result,
    name: calls[result.position]?.name ?? "",
  }));
};
