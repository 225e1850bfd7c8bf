import type { Json, JsonObject } from "../../thread/plain-data.ts";
import type { Content, MessageDraft, ReplyDraft, SystemDraft, ToolOutcome } from "../../thread/message.ts";
import type { ExpectedOutput, Failure, OutputIssue } from "../../thread/turn.ts";
import type { SeedDraft } from "../../thread/seed.ts";
import type { ReportedUsage } from "../../thread/usage.ts";
import type { Limits } from "./limits.ts";

/**
 * A fact that the machine is given. Plain JSON. `at` is the host's clock, in milliseconds since the epoch. Events are
 * ordered by arrival, never by `at`. An answer names the effect that it answers by `effectId`.
 */
export type Event =
  | AskReceived
  | MessageAppended
  | RoundAppended
  | SystemChanged
  | SystemReset
  | LlmCompleted
  | LlmFailed
  | LlmProgressed
  | OutputAccepted
  | OutputRefused
  | ToolStarted
  | ToolWithheld
  | ApprovalAnswered
  | ToolCompleted
  | ToolFailed
  | TimerFired
  | CancelRequested
  | TurnAdded
  | TurnAnnotated
  | AnswerTruncated
  | HeadMoved
  | CheckpointNamed
  | MessagePinned
  | MetadataChanged
  | ThreadForked
  | ThreadRedacted
  | ThreadConfigured;

/** A user's ask. It opens a turn. If a turn is open already, the overlap policy decides what happens. */
export interface AskReceived {
  readonly type: "ask.received";
  readonly at: number;
  /** Chosen by the host, once for each ask. A repeated one is refused with the turn that answered it. */
  readonly askId: string;
  /** The content. An empty list asks the model to continue the thread as it is; an empty text adds an empty message. */
  readonly input: Content | readonly MessageDraft[];
  /** The speaker's name, for a text or its parts. Whole messages have their own names. */
  readonly name?: string;
  /** Kept with the message; if the input is whole messages, with the turn. */
  readonly metadata?: JsonObject;
  /** Overrides the thread's model parameters, member by member, for this turn. */
  readonly model?: JsonObject;
  /** Overrides the machine's limits for this turn. `deadlineMs` has no effect if the ask joins a turn, since that turn has its deadline. */
  readonly limits?: Limits;
  /**
   * Tools that the model is offered in this turn beside the machine's. No host runs them: a call stays outstanding
   * until the caller reports its answer. All names must differ, also from the machine's.
   */
  readonly tools?: readonly CallerTool[];
  /** The handling of the ask while a turn is open; overrides the machine's policy. That policy's `max` applies, or 64 if it has none. */
  readonly overlap?: OverlapType;
  /** Joins the turn of a given ask, or any open turn. Refused if that turn is not open. Voids `limits.deadlineMs`. */
  readonly joins?: { readonly askId?: string };
  /**
   * Moves the head to this turn or checkpoint, as `head.moved` does, and opens the turn after it; 0 is the beginning.
   * The ask never waits or interrupts: it is refused as busy while a turn is open or about to open.
   */
  readonly from?: HeadMoved["to"];
  /**
   * The required form of the answer. If a turn answers several asks, the last one that has it counts. Each reply
   * without tool calls is checked before it becomes the answer.
   */
  readonly output?: ExpectedOutput;
  /** The shown part of the reply that this ask interrupts; kept and marked incomplete. */
  readonly partial?: ReplyDraft;
}

/**
 * Appends a message without calling a model. It waits while a call or a tool is outstanding. A message with tool calls
 * needs its results: use `round.appended`.
 */
export interface MessageAppended {
  readonly type: "message.appended";
  readonly at: number;
  readonly message: MessageDraft;
}

/** Changes the system prompt from the next call on; null for none. */
export interface SystemChanged {
  readonly type: "system.changed";
  readonly at: number;
  readonly system: SystemDraft | null;
}

/** Restores the system prompt that the thread began with, from the next call on. */
export interface SystemReset {
  readonly type: "system.reset";
  readonly at: number;
}

/** A model replied. Answers `callLlm`. An absent or empty list of tool calls makes it the final answer. */
export interface LlmCompleted {
  readonly type: "llm.completed";
  readonly at: number;
  readonly effectId: string;
  readonly reply: ReplyDraft;
  readonly finishReason: string | null;
  readonly usage?: ReportedUsage;
  /** The digest that the effect carried, which identifies the sent prompt. */
  readonly promptDigest?: string;
  /** The model name that the reply reports. */
  readonly model?: string;
  /** The provider's id of the response. */
  readonly responseId?: string;
}

/** A model call failed. Answers `callLlm`. */
export interface LlmFailed {
  readonly type: "llm.failed";
  readonly at: number;
  readonly effectId: string;
  readonly failure: Failure;
  /** The shown part of the reply. Its tool calls are not kept, since they may be incomplete. */
  readonly partial?: ReplyDraft;
  readonly usage?: ReportedUsage;
  readonly promptDigest?: string;
  /** The name that the failed model reports. */
  readonly model?: string;
}

/** Reports the shown part of an unfinished reply, so that it survives a crash. */
export interface LlmProgressed {
  readonly type: "llm.progressed";
  readonly at: number;
  readonly effectId: string;
  /** The part since the last report, so that a long reply is journalled once. */
  readonly partial: ReplyDraft;
  /** The reply starts again, as after a crash; earlier reports are void. */
  readonly again?: true;
}

/** The answer is the requested output. Answers `checkOutput`. */
export interface OutputAccepted {
  readonly type: "output.accepted";
  readonly at: number;
  readonly effectId: string;
  /** The JSON that the model wrote. */
  readonly value: Json;
}

/** The answer is not the requested output. Answers `checkOutput`. */
export interface OutputRefused {
  readonly type: "output.refused";
  readonly at: number;
  readonly effectId: string;
  /** The model reads them if it is asked again. */
  readonly issues: readonly OutputIssue[];
  /** The check itself failed, as the issues say. The model could not fix that, so it is not asked again. */
  readonly checkFailed?: true;
}

/** A tool that must not run twice is about to run. Reported before its function is called. */
export interface ToolStarted {
  readonly type: "tool.started";
  readonly at: number;
  readonly effectId: string;
}

/**
 * A tool was not run, because a person must approve it first. Answers `callTool`; a `requestApproval` follows.
 * Reported after the arguments were validated: before the first run if the tool declares an approval, and instead of a
 * second run if the outcome of the first is unknown.
 */
export interface ToolWithheld {
  readonly type: "tool.withheld";
  readonly at: number;
  readonly effectId: string;
  /** `declared`: the tool requires it. `unknown_outcome`: the tool was started, and its process stopped. */
  readonly because: "declared" | "unknown_outcome";
  /** The call that would run: the tool's version, if it has one, and the validated arguments. */
  readonly version?: string;
  readonly arguments: Json;
}

/** A person approved or denied a call. Answers `requestApproval`. */
export interface ApprovalAnswered {
  readonly type: "approval.answered";
  readonly at: number;
  readonly effectId: string;
  readonly approved: boolean;
  /** The digest of the request, which proves that the answer is about the call that was shown. */
  readonly digest?: string;
  /** Shown to the model if the call was denied. */
  readonly reason?: string;
  /** The person who answered; only stored. */
  readonly by?: string;
}

/** A tool answered. Answers `callTool`. A null content is an empty result. */
export interface ToolCompleted {
  readonly type: "tool.completed";
  readonly at: number;
  readonly effectId: string;
  readonly content: Content | null;
}

/** A tool failed or was not run. Answers `callTool`. */
export interface ToolFailed {
  readonly type: "tool.failed";
  readonly at: number;
  readonly effectId: string;
  readonly outcome: Exclude<ToolOutcome, "completed">;
  /** The text for the model. */
  readonly content: Content;
}

/** A timer is due. Answers `startTimer`. */
export interface TimerFired {
  readonly type: "timer.fired";
  readonly at: number;
  readonly effectId: string;
}

/** A user stops an ask or the open turn. */
export interface CancelRequested {
  readonly type: "cancel.requested";
  readonly at: number;
  /** The ask to stop, open or waiting. If its turn answers others as well, the turn continues for them. Without it, the open turn is stopped. */
  readonly askId?: string;
  readonly reason?: string;
  /** The shown part of the reply; kept and marked incomplete. */
  readonly partial?: ReplyDraft;
  /** The usage of the stopped call, if known. */
  readonly usage?: ReportedUsage;
}

/** Adds a turn by hand that did not happen in this thread. */
export interface TurnAdded {
  readonly type: "turn.added";
  readonly at: number;
  readonly messages: readonly SeedDraft[];
  readonly metadata?: JsonObject;
}

/** Attaches a named value to a turn. */
export interface TurnAnnotated {
  readonly type: "turn.annotated";
  readonly at: number;
  readonly turn: number;
  readonly name: string;
  readonly value: Json;
  readonly metadata?: JsonObject;
}

/** Truncates the last answer of a turn to the part that was spoken or shown. */
export interface AnswerTruncated {
  readonly type: "answer.truncated";
  readonly at: number;
  readonly turn: number;
  /** The number of characters of the answer's text to keep. A character is a grapheme, so none is cut in half. */
  readonly characters: number;
}

/** The conversation continues from another turn (undo, redo, clear, branch); 0 is the beginning. Nothing is removed. */
export interface HeadMoved {
  readonly type: "head.moved";
  readonly at: number;
  readonly to: number | { readonly checkpoint: string };
}

/** Gives the current head a name, or moves an existing name to it. */
export interface CheckpointNamed {
  readonly type: "checkpoint.named";
  readonly at: number;
  readonly name: string;
}

/** Pins or unpins a message. Later prompts show a pinned message whole, with its round, while it is on the path. */
export interface MessagePinned {
  readonly type: "message.pinned";
  readonly at: number;
  /** The id of a message on the path. */
  readonly message: string;
  readonly pinned: boolean;
}

/** Replaces the thread's metadata as a whole. */
export interface MetadataChanged {
  readonly type: "metadata.changed";
  readonly at: number;
  readonly metadata: JsonObject;
}

/** The entries before this one were copied from another thread. Effects that were outstanding there are not performed here. */
export interface ThreadForked {
  readonly type: "thread.forked";
  readonly at: number;
  readonly from: ForkOrigin;
}

/** The origin of a fork. */
export interface ForkOrigin {
  readonly threadId: string;
  /** The turn at the head of the copy; 0 for the beginning. */
  readonly turn: number;
}

/** Removes the content of some entries from the journal, by rewriting them in place. */
export interface ThreadRedacted {
  readonly type: "thread.redacted";
  readonly at: number;
  /** The entries, in order of `seq`, including those of summaries made from them. */
  readonly seqs: readonly number[];
  readonly reason?: string;
}

/** The thread runs under another configuration from here on. */
export interface ThreadConfigured {
  readonly type: "thread.configured";
  readonly at: number;
  readonly configuration: Configuration;
  readonly model?: JsonObject;
}

/** The names of all events, in the order in which they are documented. */
export type EventType = Event["type"];

/** The beginning of a thread: the first entry of every journal, and the input of the machine. */
export interface ThreadStarted {
  readonly type: "thread.started";
  readonly at: number;
  readonly threadId: string;
  readonly system?: SystemDraft;
  /** Messages before the first turn. */
  readonly seed?: readonly SeedDraft[];
  readonly metadata?: JsonObject;
  /** Model and provider parameters for each call, opaque to the machine; they override the configuration's, member by member. */
  readonly model?: JsonObject;
  readonly configuration?: Configuration;
}

/** The part of the configuration that a thread stores, so that a change is noticed. */
export interface Configuration {
  /** A digest of names, versions and options; see `fingerprintOf`. */
  readonly fingerprint: string;
  /** Model and provider parameters of the machine, opaque to it. */
  readonly model?: JsonObject;
  /** The longest allowed pause between two pieces of a streamed reply, in milliseconds. */
  readonly idleTimeoutMs?: number;
  /** The request for summaries; absent if the policy makes none. */
  readonly summariser?: { readonly instruction: string; readonly model?: JsonObject };
  /** The tools that each call, except for summaries, offers the model, in order. Absent if unknown. */
  readonly tools?: readonly OfferedTool[];
}

/** A tool that the caller gives with an ask and runs itself. */
export interface CallerTool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of its arguments, for the model. The caller gets the arguments as the model wrote them. */
  readonly parameters?: JsonObject;
}

/** A tool as a model sees it. */
export interface OfferedTool {
  readonly name: string;
  /** A digest of its name, description and parameters. Not cryptographic. */
  readonly digest: string;
}

/**
 * A whole round from elsewhere joins the thread: an assistant's tool calls and their results. No model is called, no
 * tool runs, and no limit counts it. It waits while a call or a tool is outstanding.
 */
export interface RoundAppended {
  readonly type: "round.appended";
  readonly at: number;
  /** The assistant's message, with at least one tool call. */
  readonly reply: ReplyDraft;
  /** Exactly one for each call, in the order of the calls, so that providers' ids may repeat. */
  readonly results: readonly AppendedResult[];
  /** Kept with the assistant's message. */
  readonly metadata?: JsonObject;
}

/** The outcome of one call of an appended round. */
export interface AppendedResult {
  readonly outcome: ToolOutcome;
  /** Null for an empty result. */
  readonly content: Content | null;
}

/** The handling of an ask that arrives while a turn is open. */
export type OverlapType = "reject" | "latest" | "interrupt" | "queue" | "merge" | "steer";

/** The input that begins a thread. */
export type ThreadInput = Omit<ThreadStarted, "type">;
