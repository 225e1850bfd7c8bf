import type { Json, JsonObject } from "../../thread/json.ts";
import type { Content, MessageDraft, ReplyDraft, ToolOutcome, SystemDraft } from "../../thread/message.ts";
import type { ExpectedOutput, OutputIssue } from "../../thread/output.ts";
import type { SeedDraft } from "../../thread/seed.ts";
import type { Failure } from "../../thread/turn.ts";
import type { ReportedUsage } from "../../thread/usage.ts";
import type { Limits } from "./limits.ts";

/**
 * A fact that the machine is given. Plain JSON. `at` is the host's clock, in milliseconds since the epoch;
 * order is by arrival, never by `at`. An answer names the effect that it answers by `effectId`.
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

/** A user asks. It opens a turn; where one is open already, the overlap policy says what becomes of it. */
export interface AskReceived {
  readonly type: "ask.received";
  readonly at: number;
  /** Chosen by the host, once for each ask: a repeated one is refused with the turn that answered it. */
  readonly askId: string;
  /** What is said. An empty list asks the model to go on from where the thread stands; an empty text adds an empty message. */
  readonly input: Content | readonly MessageDraft[];
  /** Who asks; of a text or its parts. Whole messages bring their own names. */
  readonly name?: string;
  /** Kept with the message; with the turn, where the input is whole messages. */
  readonly metadata?: JsonObject;
  /** Laid over the thread's model parameters, member by member, for this turn. */
  readonly model?: JsonObject;
  /** Laid over the machine's limits for this turn. Of one that joins a turn `deadlineMs` is without effect: that turn has its deadline. */
  readonly limits?: Limits;
  /**
   * Tools that the model is offered in this turn beside the machine's, and that no host runs: a call of one stays outstanding
   * until the caller's answer is reported. Names differ from each other and from the machine's. Needs format 2 of the journal.
   */
  readonly tools?: readonly CallerTool[];
  /** What becomes of it while a turn is open, where that is not the machine's policy. That policy's `max` holds for it, or 64 where it has none. */
  readonly overlap?: OverlapType;
  /** It is only for the turn that is open: that of another ask, or any. Refused where there is none; else it joins as by `steer`. A deadline of its own does nothing there: the turn's runs already. */
  readonly joins?: { readonly askId?: string };
  /**
   * The head moves there, as by `head.moved`, and the turn opens behind it: 0 for the beginning. Never waits and never
   * interrupts: refused as busy while a turn is open or about to be. Needs format 2 of the journal.
   */
  readonly from?: HeadMoved["to"];
  /**
   * What the answer has to be. Where a turn answers several asks, that of the last one that has it. Each reply without tool
   * calls is then checked before it is the answer. Needs format 2 of the journal.
   */
  readonly output?: ExpectedOutput;
  /** What had been shown of the reply that it interrupts; kept and marked incomplete. */
  readonly partial?: ReplyDraft;
}

/** A message joins the thread; no model is called. While a call or a tool is out it waits for the next gap. Tool calls come with their results, as `round.appended`. */
export interface MessageAppended {
  readonly type: "message.appended";
  readonly at: number;
  readonly message: MessageDraft;
}

/** The system prompt is another from the next call on; null for none. */
export interface SystemChanged {
  readonly type: "system.changed";
  readonly at: number;
  readonly system: SystemDraft | null;
}

/** The system prompt is the one that the thread began with, from the next call on. */
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
  /** The digest that the effect carried: what was really sent. */
  readonly promptDigest?: string;
  /** The model that answered, as it names itself. */
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
  /** What had been shown of the reply. Tool calls in it are not kept: they may not be whole. */
  readonly partial?: ReplyDraft;
  readonly usage?: ReportedUsage;
  readonly promptDigest?: string;
  /** The model that failed, as it names itself. */
  readonly model?: string;
}

/** What has been shown so far of a reply that still comes, so that it survives a crash. */
export interface LlmProgressed {
  readonly type: "llm.progressed";
  readonly at: number;
  readonly effectId: string;
  /** What is new since the last time, so that a long reply is journalled once. */
  readonly partial: ReplyDraft;
  /** It begins anew, as when the call was made again after a crash: what was reported before is void. */
  readonly again?: true;
}

/** The answer is what was asked for. Answers `checkOutput`. Needs format 2 of the journal. */
export interface OutputAccepted {
  readonly type: "output.accepted";
  readonly at: number;
  readonly effectId: string;
  /** The JSON that the model wrote. */
  readonly value: Json;
}

/** The answer is not what was asked for. Answers `checkOutput`. Needs format 2 of the journal. */
export interface OutputRefused {
  readonly type: "output.refused";
  readonly at: number;
  readonly effectId: string;
  /** The model reads them, where it is asked again. */
  readonly issues: readonly OutputIssue[];
  /** The check itself failed, as the issues say: the model could mend nothing, and is not asked again. */
  readonly checkFailed?: true;
}

/** A tool is about to run. Reported before the function is called where it must not run twice. */
export interface ToolStarted {
  readonly type: "tool.started";
  readonly at: number;
  readonly effectId: string;
}

/**
 * A tool was not run: a person has to approve it first. Answers `callTool`; a `requestApproval` follows. Reported when the
 * arguments were validated: before the first run where the tool is declared so, and instead of a second run where
 * the outcome of the first is not known.
 */
export interface ToolWithheld {
  readonly type: "tool.withheld";
  readonly at: number;
  readonly effectId: string;
  /** `declared`: the tool asks for it. `unknown_outcome`: it was started, and the process that ran it stopped. */
  readonly because: "declared" | "unknown_outcome";
  /** What would be run: the tool's version, where it has one, and the arguments as validated. */
  readonly version?: string;
  readonly arguments: Json;
}

/** A person approved a call, or did not. Answers `requestApproval`. */
export interface ApprovalAnswered {
  readonly type: "approval.answered";
  readonly at: number;
  readonly effectId: string;
  readonly approved: boolean;
  /** The digest that the request carried, to make sure that the answer is about what was shown. */
  readonly digest?: string;
  /** For the model, where it was denied. */
  readonly reason?: string;
  /** Who answered; only kept. */
  readonly by?: string;
}

/** A tool answered. Answers `callTool`. A null content is an empty result. */
export interface ToolCompleted {
  readonly type: "tool.completed";
  readonly at: number;
  readonly effectId: string;
  readonly content: Content | null;
}

/** A tool did not answer. Answers `callTool`. */
export interface ToolFailed {
  readonly type: "tool.failed";
  readonly at: number;
  readonly effectId: string;
  readonly outcome: Exclude<ToolOutcome, "completed">;
  /** What the model will read. */
  readonly content: Content;
}

/** The time of a timer has come. Answers `startTimer`. */
export interface TimerFired {
  readonly type: "timer.fired";
  readonly at: number;
  readonly effectId: string;
}

/** A user wants it to stop. */
export interface CancelRequested {
  readonly type: "cancel.requested";
  readonly at: number;
  /** One ask, open or waiting; a turn that answers others as well goes on for them. Without it the open turn, whichever it is. */
  readonly askId?: string;
  readonly reason?: string;
  /** What had been shown of the reply; kept and marked incomplete. */
  readonly partial?: ReplyDraft;
  /** What the stopped call had used, where that is known. */
  readonly usage?: ReportedUsage;
}

/** A turn that did not happen here is written into the thread by hand. */
export interface TurnAdded {
  readonly type: "turn.added";
  readonly at: number;
  readonly messages: readonly SeedDraft[];
  readonly metadata?: JsonObject;
}

/** Something is said about a turn. */
export interface TurnAnnotated {
  readonly type: "turn.annotated";
  readonly at: number;
  readonly turn: number;
  readonly name: string;
  readonly value: Json;
  readonly metadata?: JsonObject;
}

/** Of a turn's last answer only this much was spoken or shown. */
export interface AnswerTruncated {
  readonly type: "answer.truncated";
  readonly at: number;
  readonly turn: number;
  /** Characters of the answer's text to keep, as a reader counts them: never half of one. */
  readonly characters: number;
}

/** The conversation goes on from another turn (undo, redo, clear, branch); 0 is the beginning. Nothing is removed. */
export interface HeadMoved {
  readonly type: "head.moved";
  readonly at: number;
  readonly to: number | { readonly checkpoint: string };
}

/** The present head gets a name, or the name moves here. */
export interface CheckpointNamed {
  readonly type: "checkpoint.named";
  readonly at: number;
  readonly name: string;
}

/** From here on a message is shown whole in every prompt while it is on the path, with the round that it belongs to; or no longer. */
export interface MessagePinned {
  readonly type: "message.pinned";
  readonly at: number;
  /** The id of a message on the path. */
  readonly message: string;
  readonly pinned: boolean;
}

/** The thread's metadata is another, whole. */
export interface MetadataChanged {
  readonly type: "metadata.changed";
  readonly at: number;
  readonly metadata: JsonObject;
}

/** The entries before this one were copied from another thread. What was outstanding there stays behind: nothing of it is done here. */
export interface ThreadForked {
  readonly type: "thread.forked";
  readonly at: number;
  readonly from: ForkOrigin;
}

/** Where a fork comes from. */
export interface ForkOrigin {
  readonly threadId: string;
  /** The turn at the head of the copy; 0 for the beginning. */
  readonly turn: number;
}

/** The words of some entries are taken out of the journal, which is rewritten at their places. */
export interface ThreadRedacted {
  readonly type: "thread.redacted";
  readonly at: number;
  /** The entries, in order of `seq`. Those of summaries of them are among them. */
  readonly seqs: readonly number[];
  readonly reason?: string;
}

/** The thread runs under another configuration from here on. */
export interface ThreadConfigured {
  readonly type: "thread.configured";
  readonly at: number;
  /** The journal's format from here on, where it rises. Readers refuse one that is newer than they are. */
  readonly format?: number;
  readonly configuration: Configuration;
  readonly model?: JsonObject;
}

/** The names of all events, in the order in which they are documented. */
export type EventType = Event["type"];

/** What a thread begins with: the first entry of every journal, and the input of the machine. */
export interface ThreadStarted {
  readonly type: "thread.started";
  readonly at: number;
  readonly threadId: string;
  readonly system?: SystemDraft;
  /** Messages that stand before the first turn. */
  readonly seed?: readonly SeedDraft[];
  readonly metadata?: JsonObject;
  /** Model and provider parameters for each call, opaque to the machine; laid over the configuration's, member by member. */
  readonly model?: JsonObject;
  readonly configuration?: Configuration;
}

/** What of the configuration a thread was last run with, so that a change is seen. */
export interface Configuration {
  /** A digest of names, versions and options; see `fingerprintOf`. */
  readonly fingerprint: string;
  /** Model and provider parameters of the machine, opaque to it. */
  readonly model?: JsonObject;
  /** The longest silence between two pieces of a streamed reply, in milliseconds. */
  readonly idleTimeoutMs?: number;
  /** How summaries are asked for; absent where none are. */
  readonly summariser?: { readonly instruction: string; readonly model?: JsonObject };
  /** What each answering call offers the model, in this order. Absent in journals that 0.1 wrote: unknown. */
  readonly tools?: readonly OfferedTool[];
}

/** A tool of whoever asks. */
export interface CallerTool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of its arguments, for the model: they are passed on as the model wrote them. */
  readonly parameters?: JsonObject;
}

/** A tool as a model is shown it. */
export interface OfferedTool {
  readonly name: string;
  /** Of its name, description and parameters: what a model sees of it. Not cryptographic. */
  readonly digest: string;
}

/**
 * A whole round that was had elsewhere joins the thread: what an assistant asked tools for, and what each of them answered.
 * No model is called and no tool is run, and no limit counts it. While a call or a tool is out it waits for the next gap.
 * Needs format 2 of the journal.
 */
export interface RoundAppended {
  readonly type: "round.appended";
  readonly at: number;
  /** What the assistant said, with at least one tool call. */
  readonly reply: ReplyDraft;
  /** Exactly one for each call, in the order of the calls, so that providers' ids may repeat. */
  readonly results: readonly AppendedResult[];
  /** Kept with the assistant's message. */
  readonly metadata?: JsonObject;
}

/** What became of one call of an appended round. */
export interface AppendedResult {
  readonly outcome: ToolOutcome;
  /** Null for an empty result. */
  readonly content: Content | null;
}

/** What becomes of an ask that comes while a turn is open. */
export type OverlapType = "reject" | "latest" | "interrupt" | "queue" | "merge" | "steer";

/** What a thread begins with. */
export type ThreadInput = Omit<ThreadStarted, "type">;
