import type { Fullness } from "./entry.ts";
import type { Chunks } from "../../thread/chunks.ts";
import { frozen, type Json, type JsonObject } from "../../thread/plain-data.ts";
import type { Message, ReplyDraft } from "../../thread/message.ts";
import type { Ask, ExpectedOutput, RefusedOutput } from "../../thread/turn.ts";
import type { Pin, Thread } from "../../thread/thread.ts";
import type { Usage } from "../../thread/usage.ts";
import type { Cut } from "../../prompt/cut.ts";
import type { SummaryTask } from "../../prompt/policy.ts";
import type { AskReceived, CallerTool, Configuration, ForkOrigin, OfferedTool } from "./event.ts";
import type { Limits } from "./limits.ts";

/** The XState context of a conversation. Plain JSON. */
export interface ConversationData {
  readonly threadId: string;
  /** The `seq` of the newest entry. */
  readonly seq: number;
  /** In milliseconds since the epoch, as given by the events. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly metadata: JsonObject;
  readonly conversation: Thread;
  readonly usage: ThreadUsage;
  /** The turn that is being answered. */
  readonly open: OpenTurn | null;
  /** Waiting asks, oldest first. */
  readonly queue: readonly QueuedAsk[];
  /** The timer that opens the next turn from the queue. Set while no turn is open and asks wait. */
  readonly waking: Waking | null;
  /** Names what the last prompt left out. */
  readonly cut: Cut | null;
  readonly configuration: Configuration;
  /** The pending summary. */
  readonly summarising: Summarising | null;
  /** The number of summaries ever asked for, which numbers the next one. */
  readonly summaries: number;
  /** The grade of the last prompt, so that each crossing is reported once. */
  readonly fullness: Fullness;
  /** The counted and the reported size of the last measured call; null until both are known. */
  readonly measured: Measured | null;
  /**
   * The room for prompts, learned when a server refused one as too long; null if none was refused since the
   * configuration changed.
   */
  readonly room: LearnedRoom | null;
  /** The model parameters given for the thread itself; they override those of the configuration. */
  readonly model: JsonObject;
  /** The newest of the asks that no turn answers. */
  readonly dropped: readonly DroppedAsk[];
  /** The thread that this one was forked from; null for one that began here. */
  readonly forkedFrom: ForkOrigin | null;
}

/** An accepted ask that no turn answers. */
export interface DroppedAsk extends Ask {
  readonly droppedAt: number;
  readonly because: DroppedBecause;
}

/**
 * `withdrawn`: it was cancelled while it waited. `superseded`: another ask took its place. `returned`: it joined a
 * turn that ended before a prompt showed it. `left`: its thread was forked while it waited, and this is the fork.
 */
export type DroppedBecause = "withdrawn" | "superseded" | "returned" | "left";

/** Input tokens of one call. */
export interface Measured {
  readonly counted: number;
  readonly reported: number;
}

/** The model's window as learned from a refusal. */
export interface LearnedRoom {
  /** The tokens that policies have for a prompt, in the counter's units. */
  readonly tokens: number;
  /** The turn whose call was refused. The room shrinks once per turn. */
  readonly turn: number;
}

/** A pending summary. Its prompt is rendered from this and the thread. */
export interface Summarising extends SummaryTask {
  readonly number: number;
  /** The turn that was open when the summary was asked for, and that bears its cost; null between turns. */
  readonly turn: number | null;
  readonly instruction: string;
  readonly model: JsonObject;
  readonly idleTimeoutMs: number | null;
}

/** The number of newest closed turns, and of newest dropped asks, in which a repeated ask is recognised. */
export const remembered = 256;

/** `total` is the sum over all turns, the open one included, and `betweenTurns`. */
export interface ThreadUsage {
  readonly total: Usage;
  readonly betweenTurns: Usage;
}

export interface Waking {
  /** The `seq` of the entry that started the timer; its id is derived from it. */
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
  /** Messages appended while a call or a tool was outstanding. */
  readonly waiting: readonly Message[];
  /** Asks that joined the turn and are not in a prompt yet, oldest first. */
  readonly joining: readonly QueuedAsk[];
  /** The number of messages ever created in the turn; their ids are derived from it. */
  readonly made: number;
  /** The number of the current step, from 1; 0 before the first. */
  readonly step: number;
  readonly toolCalls: number;
  /** The id of the message with which the model ended the turn; null before. */
  readonly answer: string | null;
  /** The metadata of the turn, given by an ask whose input is whole messages. */
  readonly metadata: JsonObject | null;
  readonly usage: Usage;
  /** The configuration's model parameters, overridden by the thread's and then the ask's. */
  readonly model: JsonObject;
  /** The tools given by the asks; absent if there are none. */
  readonly callerTools?: readonly CallerTool[];
  /** The limits by which the ask overrides the machine's. */
  readonly limits: Limits;
  readonly deadlineAt: number | null;
  /** The required form of the answer; absent if any answer will do. */
  readonly output?: ExpectedOutput;
  /** Refused answers, in order. While the turn is open they are among its messages. Absent if there are none. */
  readonly refusedOutputs?: readonly RefusedOutput[];
  readonly stage: Stage;
}

/** The stage of the open turn: the event that it waits for. */
export type Stage =
  | { readonly type: "responding"; readonly call: OutstandingCall }
  | { readonly type: "backing_off"; readonly attempt: number; readonly dueAt: number }
  /** The next prompt does not fit without the pending summary. */
  | { readonly type: "compacting"; readonly attempt: number; readonly dueAt: number }
  /** The newest message is a reply, and its check as the requested output is outstanding. */
  | { readonly type: "checking"; readonly finishReason: string | null }
  | { readonly type: "running"; readonly calls: readonly RoundCall[] };

/** An outstanding model call. Its prompt is rendered from this and the thread. */
export interface OutstandingCall {
  readonly attempt: number;
  readonly cut: Cut;
  readonly system: Message | null;
  /** The pins at the time of the call. */
  readonly pins: readonly Pin[];
  readonly idleTimeoutMs: number | null;
  /** The size of its prompt in counted tokens; null if it cannot calibrate the counter. */
  readonly counted: number | null;
  /** The part of the reply shown so far, as far as the host has journalled it. */
  readonly partial: ReplyDraft | null;
  /** The tools that the call offers the model; absent if the configuration does not say. */
  readonly tools?: readonly OfferedTool[];
}

/** A call of the current round. */
export interface RoundCall {
  readonly callId: string;
  readonly providerCallId: string | null;
  readonly name: string;
  readonly arguments: string;
  readonly started: boolean;
  /** From 1; rises each time the call is run after an approval. */
  readonly attempt: number;
  /** No host runs the call; the caller gives its result. */
  readonly by?: "caller";
  /** The state of the approval; null if the call needs none. */
  readonly approval: Approval | null;
  /** The result message, once it exists. */
  readonly result: Message | null;
}

/** The progress of a call's approval. */
export type Approval =
  /** The runtime must validate the arguments and then withhold the call. */
  | { readonly status: "required" }
  /** A person was asked; `number` counts the requests for this call, from 1. */
  | ({ readonly status: "requested" | "granted"; readonly number: number } & Approvable);

/** Exactly the call that a person approves. */
export interface Approvable {
  readonly because: "declared" | "unknown_outcome";
  /** The version of the tool; null if it has none. */
  readonly version: string | null;
  /** The validated arguments. */
  readonly arguments: Json;
}

/** An ask that waits for its turn. */
export type QueuedAsk = Omit<AskReceived, "type" | "partial" | "from">;

/** The state of a conversation between two events: plain JSON, never changed in place. */
export interface State {
  /** XState's state value. */
  readonly value: StateValue;
  /** XState's context. */
  readonly context: ConversationData;
}

/** The innermost states, each with its XState value. */
export const stateValues = frozen({
  idle: "idle",
  responding: { awaiting_llm: "responding" },
  compacting: { awaiting_llm: "compacting" },
  checking: { awaiting_llm: "checking" },
  backing_off: { awaiting_llm: "backing_off" },
  running: { awaiting_tool: "running" },
  awaiting_approval: { awaiting_tool: "awaiting_approval" },
  completed: "completed",
  error: "error",
} as const);

export type Leaf = keyof typeof stateValues;

/** The value of one of the five states, with its substate. */
export type StateValue =
  | "idle"
  | { readonly awaiting_llm: "responding" | "compacting" | "checking" | "backing_off" }
  | { readonly awaiting_tool: "running" | "awaiting_approval" }
  | "completed"
  | "error";

export type Phase = "idle" | "awaiting_llm" | "awaiting_tool" | "completed" | "error";

/** Returns which of the five states a conversation is in. */
export const phaseOf = (state: State): Phase => {
  if (typeof state.value === "string") return state.value;
  return "awaiting_llm" in state.value ? "awaiting_llm" : "awaiting_tool";
};
