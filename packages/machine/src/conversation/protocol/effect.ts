import type { JsonObject } from "../../thread/plain-data.ts";
import type { Message, ToolOutcome } from "../../thread/message.ts";
import type { ContextUnfit, ExpectedOutput, Failure, LimitReached, TurnStatus } from "../../thread/turn.ts";
import type { Cost, ReportedUsage, Usage } from "../../thread/usage.ts";
import type { TurnRange } from "../../prompt/cut.ts";
import type { Approvable } from "./data.ts";
import type { Fullness } from "./entry.ts";
import type { OfferedTool } from "./event.ts";

/**
 * A request of the machine. Plain JSON; the host that performs it reports the outcome as an event that carries
 * `effectId`. Ids are derived, so the same effect of the same thread has the same id everywhere, which makes `id` an
 * idempotency key.
 */
export type Effect = AnswerableEffect | OneShotEffect;

/** Effects that stay in `outstanding` until they are answered or cancelled. */
export type AnswerableEffect = CallLlm | CheckOutput | CallTool | RequestApproval | StartTimer;

/** Effects that have no answer. */
export type OneShotEffect = CancelLlm | CancelCheck | CancelTool | CancelApproval | CancelTimer | Publish;

/**
 * Call a model with exactly `messages`. Answered by `llm.completed` or `llm.failed`, once. Must not be dropped; may be
 * performed again after a crash (a model call has no lasting effect but its price). A call of purpose `answer` never
 * runs beside another of that purpose, nor beside a `callTool`. A call of purpose `summary` runs in the background
 * beside any other effect, one at a time, and offers the model no tools.
 */
export interface CallLlm {
  readonly type: "callLlm";
  /** `thread/turn.step#attempt`; for a summary `thread/summary-number#attempt`. */
  readonly id: string;
  readonly threadId: string;
  /** For a summary, the turn that bears its cost: 0 between turns. */
  readonly turn: number;
  /** For a summary 0. */
  readonly step: number;
  /** From 1; each retry is a new attempt. */
  readonly attempt: number;
  readonly purpose: "answer" | "summary";
  /** The prompt, well-formed. */
  readonly messages: readonly Message[];
  /** The host must copy it to the outcome. */
  readonly promptDigest: string;
  /** Model and provider parameters: the thread's, overridden by the ask's. */
  readonly model: JsonObject;
  /**
   * Exactly the tools to offer the model, in this order; none for a summary. The machine decides the set, and a
   * handler neither narrows nor widens it. Absent only while a thread runs under a configuration that does not list the
   * tools. Then offer all tools that the machine declares.
   */
  readonly tools?: readonly OfferedTool[];
  /** The required form of the answer; absent if any answer will do, and for a summary. `promptDigest` covers it. */
  readonly output?: Omit<ExpectedOutput, "repairs">;
  /** The longest allowed pause between two pieces of the reply, in milliseconds; absent for none. */
  readonly idleTimeoutMs?: number;
}

/**
 * Check whether a reply is the requested output. Answered by `output.accepted` or `output.refused`, once. Must not be
 * dropped; may be performed again, since a check has no side effect. No model is called while one is outstanding.
 */
export interface CheckOutput {
  readonly type: "checkOutput";
  /** `thread/turn.step!output` */
  readonly id: string;
  readonly threadId: string;
  readonly turn: number;
  readonly step: number;
  /** From 1; rises with each refused answer of the turn. */
  readonly attempt: number;
  /** The text of the reply. */
  readonly text: string;
  readonly output: Omit<ExpectedOutput, "repairs">;
}

/**
 * Run a tool. If `by` is the caller, run nothing and wait for the caller's answer, which may take days; it is state,
 * so nothing has to keep running. Answered by `tool.completed` or `tool.failed`, once, in any order among the calls of
 * a round; `tool.started` may come before. Must not be dropped. The tool's declared recovery says whether it may be
 * performed again after a crash.
 */
export interface CallTool {
  readonly type: "callTool";
  /** `thread/turn.step.position#attempt` */
  readonly id: string;
  readonly threadId: string;
  readonly turn: number;
  readonly step: number;
  /** From 0, in the order of the calls in the reply. */
  readonly position: number;
  readonly attempt: number;
  readonly callId: string;
  readonly providerCallId: string | null;
  readonly name: string;
  /** The exact string that the model wrote. */
  readonly arguments: string;
  /** `tool.started` was reported, so the function may have run. */
  readonly started: boolean;
  /**
   * Present if the tool belongs to the caller: no host runs it, and `tool.started` and `tool.withheld` are refused.
   */
  readonly by?: "caller";
  /**
   * Null: run it. `required`: validate the arguments and report `tool.withheld`. Otherwise the approved call: run
   * exactly that, or withhold it again.
   */
  readonly approval: "required" | Approvable | null;
}

/**
 * Ask a person whether a tool may run with exactly these arguments. Answered by `approval.answered`, once, which may
 * take days; it is state, so nothing has to keep running. May be performed again, since it is the same question.
 */
export interface RequestApproval extends Approvable {
  readonly type: "requestApproval";
  /** `thread/turn.step.position!approval-number` */
  readonly id: string;
  readonly threadId: string;
  readonly turn: number;
  readonly step: number;
  readonly position: number;
  readonly callId: string;
  readonly name: string;
  /** A digest of the tool's name, its version and the arguments. */
  readonly digest: string;
}

/**
 * Report `timer.fired` at `dueAt` or as soon after as possible, also after a restart. Must not be dropped. A repeated
 * event is harmless; an early one only acts too early.
 */
export interface StartTimer {
  readonly type: "startTimer";
  readonly id: string;
  readonly threadId: string;
  readonly purpose: "retry" | "deadline" | "queue" | "summary";
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
}

/** Stop a model call whose answer is no longer wanted. May be dropped, at the price of tokens. */
export interface CancelLlm {
  readonly type: "cancelLlm";
  readonly effectId: string;
}

/** Stop a check whose outcome is no longer wanted. May be dropped: its answer would be refused. */
export interface CancelCheck {
  readonly type: "cancelCheck";
  readonly effectId: string;
}

/** Stop a tool whose result is no longer wanted. May be dropped. The function's side effects are not undone. */
export interface CancelTool {
  readonly type: "cancelTool";
  readonly effectId: string;
}

/** Withdraw an approval request because the turn was stopped. May be dropped: its answer would be refused. */
export interface CancelApproval {
  readonly type: "cancelApproval";
  readonly effectId: string;
}

/** Forget a timer. May be dropped: its event would be refused. */
export interface CancelTimer {
  readonly type: "cancelTimer";
  readonly effectId: string;
}

/** Notify observers. May be dropped; no state depends on it. */
export interface Publish {
  readonly type: "publish";
  readonly signal: Signal;
}

/**
 * The place of a model call. For a summary, `turn` is the one that bears its cost (0 between turns), and `step` is 0.
 */
export interface CallPlace {
  readonly turn: number;
  readonly step: number;
  readonly attempt: number;
  readonly purpose: "answer" | "summary";
}

/** A notice for an observer. */
export type Signal =
  | { readonly type: "turn.started"; readonly turn: number; readonly askIds: readonly string[] }
  | { readonly type: "ask.queued"; readonly askId: string; readonly place: number }
  | { readonly type: "ask.withdrawn"; readonly askId: string }
  /** The ask waited, and another took its place. */
  | { readonly type: "ask.superseded"; readonly askId: string; readonly by: string }
  /** The ask joins the open turn, and waits for its next prompt. */
  | { readonly type: "ask.joined"; readonly askId: string; readonly turn: number }
  /** An ask that joined a turn is in the prompt of this step. */
  | { readonly type: "ask.delivered"; readonly askId: string; readonly turn: number; readonly step: number }
  /** An ask that joined a turn was never shown, because the turn ended. It can be asked again, under another id. */
  | { readonly type: "ask.returned"; readonly askId: string; readonly turn: number }
  /** The open turn is cancelled in favour of an ask. */
  | { readonly type: "turn.interrupted"; readonly turn: number; readonly by: string }
  | {
      readonly type: "retry.scheduled";
      readonly turn: number;
      readonly attempt: number;
      readonly dueAt: number;
      readonly because: string;
    }
  | { readonly type: "limit.reached"; readonly turn: number; readonly reached: LimitReached }
  | { readonly type: "policy.failed"; readonly reason: string }
  /**
   * A model call has its reply; the signal does not contain the content. `usage` as reported, `cost` if the call has a
   * price.
   */
  | (CallPlace & {
      readonly type: "model.replied";
      readonly finishReason: string | null;
      readonly toolCalls: number;
      /** The model name that the reply reports. */
      readonly model?: string;
      readonly usage?: ReportedUsage;
      readonly cost?: Cost;
    })
  /** A model call failed. `retry.scheduled` tells whether it is retried. */
  | (CallPlace & {
      readonly type: "model.failed";
      readonly failure: Failure["kind"];
      readonly model?: string;
      readonly usage?: ReportedUsage;
      readonly cost?: Cost;
    })
  /** An answer is not the requested output. The turn fails, or continues with another `attempt`. */
  | {
      readonly type: "output.refused";
      readonly turn: number;
      readonly step: number;
      readonly attempt: number;
      readonly issues: number;
    }
  /** A tool call has its result: from its tool, or from the machine if it was stopped or never run. */
  | {
      readonly type: "tool.ended";
      readonly turn: number;
      readonly step: number;
      readonly position: number;
      readonly name: string;
      readonly outcome: ToolOutcome;
    }
  /**
   * The messages of the thread changed. The counts cover the path, the seed and waiting messages, without the system
   * message; `usage` is the thread's total.
   */
  | {
      readonly type: "thread.updated";
      readonly turns: number;
      readonly messages: number;
      readonly characters: number;
      readonly usage: Usage;
    }
  /** The prompt of a call is fuller than the last one. Sent once for each crossing. */
  | {
      readonly type: "context.warning";
      readonly warning: Exclude<Fullness, "within">;
      /** The number of messages on the path, in the open turn and waiting, without the system message. */
      readonly messages: number;
      readonly tokens: number;
      readonly available: number;
    }
  | { readonly type: "context.unfit"; readonly turn: number; readonly unfit: ContextUnfit }
  | { readonly type: "summary.started"; readonly number: number; readonly covers: TurnRange }
  | { readonly type: "summary.completed"; readonly number: number; readonly covers: TurnRange }
  /** Changes nothing; `reason` is for a person. */
  | { readonly type: "summary.failed"; readonly number: number; readonly covers: TurnRange; readonly reason: string }
  | { readonly type: "turn.ended"; readonly turn: number; readonly status: Exclude<TurnStatus, "open"> };

/** Creates a signal for observers. Its values are frozen already. */
export const publish = (signal: Signal): Publish => Object.freeze({ type: "publish", signal: Object.freeze(signal) });
