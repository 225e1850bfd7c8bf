import type { Fullness } from "./entry.ts";
import type { Chunks } from "../../thread/chunks.ts";
import type { Json, JsonObject } from "../../thread/json.ts";
import type { Message, ReplyDraft } from "../../thread/message.ts";
import type { ExpectedOutput, RefusedOutput } from "../../thread/output.ts";
import type { Pin, Thread } from "../../thread/thread.ts";
import type { Ask } from "../../thread/turn.ts";
import type { Usage } from "../../thread/usage.ts";
import type { Cut } from "../../prompt/cut.ts";
import type { SummaryTask } from "../../prompt/policy.ts";
import type { AskReceived, CallerTool, Configuration, ForkOrigin, OfferedTool } from "./event.ts";
import type { Limits } from "./limits.ts";

/** The XState context of a conversation. Plain JSON. */
export interface ConversationData {
  readonly threadId: string;
  /** The format of the journal, where it has risen above the first. */
  readonly format?: number;
  /** The `seq` of the newest entry. */
  readonly seq: number;
  /** Milliseconds since the epoch, as events said. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly metadata: JsonObject;
  readonly conversation: Thread;
  readonly usage: ThreadUsage;
  /** The turn that is being answered. */
  readonly open: OpenTurn | null;
  /** Asks that wait, oldest first. */
  readonly queue: readonly QueuedAsk[];
  /** The timer that opens the next turn from the queue, while no turn is open and asks wait. */
  readonly waking: Waking | null;
  /** What the last prompt left out. */
  readonly cut: Cut | null;
  readonly configuration: Configuration;
  /** The summary that is being written. */
  readonly summarising: Summarising | null;
  /** How many summaries were ever asked for, from which they have their numbers. */
  readonly summaries: number;
  /** How full the last prompt was, so that each crossing is reported once. */
  readonly fullness: Fullness;
  /** What the last call was counted at, and what was reported of it; null while both were never known. */
  readonly measured: Measured | null;
  /** The room that prompts have since a server refused one as too long; null: none was refused since the configuration changed. */
  readonly room: LearnedRoom | null;
  /** The model parameters that the thread brought itself; those of the configuration stand beneath them. */
  readonly model: JsonObject;
  /** Asks that no turn answers, the newest of them. */
  readonly dropped: readonly DroppedAsk[];
  /** The thread that this one is a copy of, up to a turn; null for one that began here. */
  readonly forkedFrom: ForkOrigin | null;
}

/** An ask that was taken, and that no turn answers. */
export interface DroppedAsk extends Ask {
  readonly droppedAt: number;
  readonly because: DroppedBecause;
}

/**
 * `withdrawn`: it was cancelled while it waited. `superseded`: another ask took its place. `returned`: it joined a turn
 * that ended before it could be shown. `left`: the thread that it waited in was forked, and this is the fork.
 */
export type DroppedBecause = "withdrawn" | "superseded" | "returned" | "left";

/** Input tokens of one call. */
export interface Measured {
  readonly counted: number;
  readonly reported: number;
}

/** What a refusal taught about a model's window. */
export interface LearnedRoom {
  /** Tokens, as the counter counts them, that policies have for a prompt. */
  readonly tokens: number;
  /** The turn whose call was refused: within one turn the room shrinks once. */
  readonly turn: number;
}

/** A summary that is being written. Its prompt is rendered from this and the thread. */
export interface Summarising extends SummaryTask {
  readonly number: number;
  /** The turn that was open when it was asked for, which bears its cost; null between turns. */
  readonly turn: number | null;
  readonly instruction: string;
  readonly model: JsonObject;
  readonly idleTimeoutMs: number | null;
}

/** How many closed turns, and how many dropped asks, back a repeated ask is recognised. */
export const remembered = 256;

/** `total` is the sum over all turns, the open one included, and `betweenTurns`. */
export interface ThreadUsage {
  readonly total: Usage;
  readonly betweenTurns: Usage;
}

export interface Waking {
  /** The `seq` of the entry that started it, from which it has its id. */
  readonly seq: number;
  readonly dueAt: number;
}

/** A turn in the making. */
export interface OpenTurn {
  readonly number: number;
  readonly parent: number;
  readonly asks: readonly Ask[];
  readonly startedAt: number;
  readonly messages: Chunks<Message>;
  /** Appended while a call or a tool was out. */
  readonly waiting: readonly Message[];
  /** Asks that joined the turn and stand in no prompt yet, oldest first. */
  readonly joining: readonly QueuedAsk[];
  /** How many messages it ever made, from which they have their ids. */
  readonly made: number;
  /** The number of the step that is under way, from 1; 0 before the first. */
  readonly step: number;
  readonly toolCalls: number;
  /** The id of the message with which a model ended the turn, once it is there. */
  readonly answer: string | null;
  /** For the turn, where the ask itself is whole messages. */
  readonly metadata: JsonObject | null;
  readonly usage: Usage;
  /** The configuration's model parameters, with the thread's and then the ask's laid over them. */
  readonly model: JsonObject;
  /** The tools of those who ask; absent where there are none. */
  readonly callerTools?: readonly CallerTool[];
  /** What the ask laid over the machine's limits. */
  readonly limits: Limits;
  readonly deadlineAt: number | null;
  /** What its answer has to be; absent where any will do. */
  readonly output?: ExpectedOutput;
  /** Answers that did not fit, in order: while the turn is open they stand among its messages. Absent: none. */
  readonly refusedOutputs?: readonly RefusedOutput[];
  readonly stage: Stage;
}

/** What the open turn waits for. */
export type Stage =
  | { readonly type: "responding"; readonly call: OutstandingCall }
  | { readonly type: "backing_off"; readonly attempt: number; readonly dueAt: number }
  /** The next prompt does not fit without the summary that is being written. */
  | { readonly type: "compacting"; readonly attempt: number; readonly dueAt: number }
  /** The newest message is a reply, and it is not known yet whether it is the output that was asked for. */
  | { readonly type: "checking"; readonly finishReason: string | null }
  | { readonly type: "running"; readonly calls: readonly RoundCall[] };

/** A model call that is out. What it was sent is rendered from this and the thread. */
export interface OutstandingCall {
  readonly attempt: number;
  readonly cut: Cut;
  readonly system: Message | null;
  /** As they were when it was asked for. */
  readonly pins: readonly Pin[];
  readonly idleTimeoutMs: number | null;
  /** Tokens that its prompt was counted at; null where that was not of interest. */
  readonly counted: number | null;
  /** What has been shown of it, as far as the host journalled that. */
  readonly partial: ReplyDraft | null;
  /** What it offers the model; absent where the journal does not say (0.1 did not). */
  readonly tools?: readonly OfferedTool[];
}

/** A call of the round that is under way. */
export interface RoundCall {
  readonly callId: string;
  readonly providerCallId: string | null;
  readonly name: string;
  readonly arguments: string;
  readonly started: boolean;
  /** From 1; one more each time that it is run after an approval. */
  readonly attempt: number;
  /** No host runs it: its result is the caller's to give. */
  readonly by?: "caller";
  /** Whether a person has to approve it; null where none has to. */
  readonly approval: Approval | null;
  /** The result message, once it is there. */
  readonly result: Message | null;
}

/** How far the approval of a call is. */
export type Approval =
  /** The runtime is to validate the arguments, and then to withhold the call. */
  | { readonly status: "required" }
  /** A person is asked; `number` counts the requests for this call, from 1. */
  | ({ readonly status: "requested" | "granted"; readonly number: number } & Approvable);

/** What an approval is about: exactly this. */
export interface Approvable {
  readonly because: "declared" | "unknown_outcome";
  /** The version of the tool; null for one that has none. */
  readonly version: string | null;
  /** The arguments as validated. */
  readonly arguments: Json;
}

/** An ask that waits for the turn before it. */
export type QueuedAsk = Omit<AskReceived, "type" | "partial" | "from">;
