import type { JsonObject } from "../../thread/json.ts";
import type { Message, ToolOutcome } from "../../thread/message.ts";
import type { ExpectedOutput } from "../../thread/output.ts";
import type { ContextUnfit, Failure, LimitReached, TurnStatus } from "../../thread/turn.ts";
import type { Cost, ReportedUsage, Usage } from "../../thread/usage.ts";
import type { TurnRange } from "../../prompt/cut.ts";
import type { Approvable } from "./data.ts";
import type { Fullness } from "./entry.ts";
import type { OfferedTool } from "./event.ts";

/**
 * Something that the machine wants done. Plain JSON; the host that performs it reports the outcome as an
 * event that carries `effectId`. Ids are derived, so the same effect of the same thread has the same id
 * everywhere, which makes `id` an idempotency key.
 */
export type Effect = AnswerableEffect | OneShotEffect;

/** Effects that stay in `outstanding` until they are answered or cancelled. */
export type AnswerableEffect = CallLlm | CheckOutput | CallTool | RequestApproval | StartTimer;

/** Effects that have no answer. */
export type OneShotEffect = CancelLlm | CancelCheck | CancelTool | CancelApproval | CancelTimer | Publish;

/**
 * Call a model with exactly `messages`. Answered by `llm.completed` or `llm.failed`, once. Must not be dropped;
 * may be performed again after a crash (a model call has no lasting effect but its price). One of purpose `answer`
 * never runs beside another of that purpose, nor beside a `callTool`; one of purpose `summary` is background work
 * beside anything, one at a time, and offers the model no tools.
 */
export interface CallLlm {
  readonly type: "callLlm";
  /** `thread/turn.step#attempt`; of a summary `thread/summary-number#attempt`. */
  readonly id: string;
  readonly threadId: string;
  /** Of a summary, the turn that bears its cost: 0 between turns. */
  readonly turn: number;
  /** Of a summary 0. */
  readonly step: number;
  /** From 1; each retry is an attempt of its own. */
  readonly attempt: number;
  readonly purpose: "answer" | "summary";
  /** The prompt, well-formed. */
  readonly messages: readonly Message[];
  /** To be echoed on the outcome. */
  readonly promptDigest: string;
  /** Model and provider parameters: the thread's, with the ask's laid over them. */
  readonly model: JsonObject;
  /**
   * Exactly the tools to offer the model, in this order; none for a summary. The machine decides the set: a handler
   * neither narrows nor widens it. Absent only while a thread runs under a configuration that 0.1 journalled, which does
   * not say: then it is all that the machine declares.
   */
  readonly tools?: readonly OfferedTool[];
  /** What the answer has to be; absent where any will do, and for a summary. `promptDigest` covers it. */
  readonly output?: Omit<ExpectedOutput, "repairs">;
  /** The longest silence to bear between two pieces of the reply, in milliseconds; absent for none. */
  readonly idleTimeoutMs?: number;
}

/**
 * Check whether a reply is the output that was asked for. Answered by `output.accepted` or `output.refused`, once. Must not be
 * dropped; may be performed again, as a check only looks. No model is called while one is out.
 */
export interface CheckOutput {
  readonly type: "checkOutput";
  /** `thread/turn.step!output` */
  readonly id: string;
  readonly threadId: string;
  readonly turn: number;
  readonly step: number;
  /** From 1; one more for each answer of the turn that did not fit. */
  readonly attempt: number;
  /** The text of the reply. */
  readonly text: string;
  readonly output: Omit<ExpectedOutput, "repairs">;
}

/**
 * Run a tool; or, `by` the caller, run nothing and wait for the caller's answer, in days if need be: it is state, and
 * nothing has to be kept running. Answered by `tool.completed` or `tool.failed`, once, in any order among the calls of a round;
 * `tool.started` may come before. Must not be dropped; whether it may be performed again after a crash is for
 * the tool's declared recovery to say.
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
  /** `tool.started` was reported: the function may have run. */
  readonly started: boolean;
  /** Present where it is of a tool of whoever asked: no host runs it, and `tool.started` and `tool.withheld` are refused. */
  readonly by?: "caller";
  /** Null: run it. `required`: validate the arguments and report `tool.withheld`. Else what was approved: run exactly that, or withhold it again. */
  readonly approval: "required" | Approvable | null;
}

/**
 * Ask a person whether a tool may run, with exactly these arguments. Answered by `approval.answered`, once, in days if
 * need be: it is state, and nothing has to be kept running. May be performed again: it is the same question.
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
  /** Of the tool's name, its version and the arguments. */
  readonly digest: string;
}

/**
 * Report `timer.fired` at `dueAt` or as soon after it as can be, also after a restart. Must not be dropped; an
 * early or repeated one does harm only in that it is early.
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

/** Stop a tool whose result is no longer wanted. May be dropped; what the function does to the world is not undone. */
export interface CancelTool {
  readonly type: "cancelTool";
  readonly effectId: string;
}

/** A question is no longer of interest: the turn was stopped. May be dropped: its answer would be refused. */
export interface CancelApproval {
  readonly type: "cancelApproval";
  readonly effectId: string;
}

/** Forget a timer. May be dropped: its event would be refused. */
export interface CancelTimer {
  readonly type: "cancelTimer";
  readonly effectId: string;
}

/** Notify observers. May be dropped, and losing it loses nothing. */
export interface Publish {
  readonly type: "publish";
  readonly signal: Signal;
}

/** Where a model call stands: of a summary `turn` is the one that bears its cost, 0 between turns, and `step` 0. */
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
  /** It waited, and another ask took its place. */
  | { readonly type: "ask.superseded"; readonly askId: string; readonly by: string }
  /** It joins the open turn, and waits for its next prompt. */
  | { readonly type: "ask.joined"; readonly askId: string; readonly turn: number }
  /** An ask that joined a turn stands in the prompt of this step. */
  | { readonly type: "ask.delivered"; readonly askId: string; readonly turn: number; readonly step: number }
  /** An ask that joined a turn was never shown: the turn ended. It can be asked again, under another id. */
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
  /** A model call has its reply; what it said is not in here. `usage` as it was reported, `cost` where there is a price. */
  | (CallPlace & {
      readonly type: "model.replied";
      readonly finishReason: string | null;
      readonly toolCalls: number;
      /** The model that answered, as it names itself. */
      readonly model?: string;
      readonly usage?: ReportedUsage;
      readonly cost?: Cost;
    })
  /** A model call failed; whether it is made again, `retry.scheduled` says. */
  | (CallPlace & {
      readonly type: "model.failed";
      readonly failure: Failure["kind"];
      readonly model?: string;
      readonly usage?: ReportedUsage;
      readonly cost?: Cost;
    })
  /** An answer is not the output that was asked for, and the turn fails, or goes on with another `attempt`. */
  | {
      readonly type: "output.refused";
      readonly turn: number;
      readonly step: number;
      readonly attempt: number;
      readonly issues: number;
    }
  /** A tool call has its result, from its tool or, where it was stopped or never run, from the machine. */
  | {
      readonly type: "tool.ended";
      readonly turn: number;
      readonly step: number;
      readonly position: number;
      readonly name: string;
      readonly outcome: ToolOutcome;
    }
  /** What was said is another than before. Counted on the path, the seed and what waits included, the system message not; `usage` is the thread's total. */
  | {
      readonly type: "thread.updated";
      readonly turns: number;
      readonly messages: number;
      readonly characters: number;
      readonly usage: Usage;
    }
  /** The prompt of a call is fuller than the last one. Once for each crossing. */
  | {
      readonly type: "context.warning";
      readonly warning: Exclude<Fullness, "within">;
      /** How many messages are on the path, in the open turn and waiting, without the system message. */
      readonly messages: number;
      readonly tokens: number;
      readonly available: number;
    }
  | { readonly type: "context.unfit"; readonly turn: number; readonly unfit: ContextUnfit }
  | { readonly type: "summary.started"; readonly number: number; readonly covers: TurnRange }
  | { readonly type: "summary.completed"; readonly number: number; readonly covers: TurnRange }
  /** Nothing is changed by it; `reason` is for a person. */
  | { readonly type: "summary.failed"; readonly number: number; readonly covers: TurnRange; readonly reason: string }
  | { readonly type: "turn.ended"; readonly turn: number; readonly status: Exclude<TurnStatus, "open"> };

/** A signal for observers. What it holds is frozen already: part of the data, of the event, or made so. */
export const publish = (signal: Signal): Publish => Object.freeze({ type: "publish", signal: Object.freeze(signal) });
