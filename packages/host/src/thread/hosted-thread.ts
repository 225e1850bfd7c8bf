import {
  type AskRecord,
  type CallTool,
  type Entry,
  type Event,
  type HeadMoved,
  type JsonObject,
  type MessageDraft,
  type RequestApproval,
  type RoundAppended,
  type SeedDraft,
  type State,
  type SystemDraft,
  type Turn,
  type TurnAnnotated,
  approvalsOf,
  askNamed,
  asksOf,
  callsToAnswer,
} from "@colloquy/machine";
import { redoTarget, undoTarget } from "@colloquy/machine/hosting";
import {
  type Explanation,
  type StateDifference,
  type ThreadFigures,
  explain,
  figuresOf,
} from "@colloquy/machine/inspect";
import { loadAll, type RedactionTarget } from "@colloquy/machine/storage";
import type { AskInput, AskOptions, SteerOptions } from "../ask/ask-options.ts";
import type { AskHandle } from "../ask/ask-handle.ts";
import type { ThreadDefaults } from "../context/host-context.ts";
import type { OutputOf, OutputSchema, WrittenOf } from "../output/expected.ts";
import { answerTool, type ToolAnswer, approve, type ApproveOptions, deny, type DenyOptions } from "./answer-tool.ts";
import { askOn, steerOn } from "./asking.ts";
import { type ForkOf, type ForkOptions, forkThread, differenceIn, exportJournal, stateBehind } from "./history.ts";
import { deleteThread, moveThread, type MoveTarget } from "./move-to.ts";
import { type Checkpoint, checkpointsOf, moveBy } from "./move.ts";
import { redactThread, type RedactOptions } from "./redact.ts";
import { rejoin, type RejoinOptions } from "./rejoin.ts";
import { resume, type Resumed } from "./resume.ts";
import { look, type Receipt, send, startThread, submit, type ThreadRef } from "./thread-ref.ts";

/** A copy of a thread. */
export type Fork = ForkOf<HostedThread>;

/**
 * One thread of a host. Using it opens the thread here: its lease is taken, its journal is read, and its unfinished
 * work continues. A thread that does not exist is created by the first ask, message or system prompt, or by `start`.
 * Each change by hand adds an entry: only `redact`, `delete` and `moveTo` remove anything.
 *
 * All methods but `ask` and `steer` reject with `ThreadHeldError` when another host works on the thread, or does not
 * answer. They reject with `EventRefusedError` when the machine refuses, and with `LeaseLostError` or `StoreError`
 * when the outcome is unknown.
 */
export class HostedThread {
  readonly id: string;
  readonly #thread: ThreadRef;

  constructor(thread: ThreadRef) {
    this.id = thread.id;
    this.#thread = thread;
  }

  /**
   * Asks. Returns at once; the handle shows everything that follows. With `output` its result has an output, validated
   * by that schema.
   */
  ask<Schema extends OutputSchema = never>(
    input: AskInput,
    options: AskOptions<Schema> = {},
  ): AskHandle<OutputOf<Schema>, WrittenOf<Schema>> {
    return askOn(this.#thread, input, options);
  }

  /**
   * Asks within the open turn. Its next prompt shows the ask, and its answer is the ask's. Refused if no turn is open;
   * returned if the turn ends before that prompt.
   */
  steer(input: AskInput, options: SteerOptions = {}): AskHandle {
    return steerOn(this.#thread, input, options);
  }

  /**
   * Returns a handle to an ask that was made before. Its parts start with those that were already shown, and then
   * arrive live. That also works in another process if hosts keep a log (`partsMs`), and for some time after the end
   * (`keepPartsMs`). Parts that are not kept are made from the journal, after `replay.started`. With `from`, the
   * `cursor` of any handle to the ask, only parts after it are shown.
   */
  rejoin(askId: string, options: RejoinOptions = {}): AskHandle {
    return rejoin(this.#thread, askId, options);
  }

  /**
   * Continues the thread with the work that a dead process left unfinished. The result has handles to it. Rejects with
   * `ThreadUnknownError`, `ThreadHeldError`; `host.start` keeps trying for another host's lease.
   */
  resume(): Promise<Resumed> {
    return resume(this.#thread);
  }

  /**
   * Returns the record of an ask by its id, also long after it. Null if there is none, or if it is older than some 256
   * turns. Takes no lease.
   */
  asked(askId: string): Promise<AskRecord | null> {
    return look(this.#thread, (state) => askNamed(state, askId));
  }

  /** Returns the records of the last asks, the newest last. Default: of 256. Takes no lease. */
  async asks(last?: number): Promise<readonly AskRecord[]> {
    return (await look(this.#thread, (state) => asksOf(state, last))) ?? [];
  }

  /** Returns the tool calls that wait for approval. Takes no lease. */
  async approvals(): Promise<readonly RequestApproval[]> {
    return (await look(this.#thread, approvalsOf)) ?? [];
  }

  /**
   * Approves a tool call, by the `id` of its request, whenever and on whichever host that was made. It runs exactly as
   * it was shown: if its tool or arguments differ by now, a new approval is requested. If another host holds the
   * thread, the answer goes through the store. The result has a handle to the turn. Rejects with `ConfigurationError`
   * if this host has no such tool.
   */
  approve(id: string, options: ApproveOptions = {}): Promise<Resumed> {
    return approve(this.#thread, id, options);
  }

  /**
   * Denies a tool call, so that it does not run. The model reads the denial, and continues. The result has a handle to
   * the turn.
   */
  deny(id: string, options: DenyOptions = {}): Promise<Resumed> {
    return deny(this.#thread, id, options);
  }

  /** Returns the calls of the caller's tools that wait for their results. Takes no lease. */
  async callsToAnswer(): Promise<readonly CallTool[]> {
    return (await look(this.#thread, callsToAnswer)) ?? [];
  }

  /**
   * Gives the result of a call that waits for the caller, by its `callId`, from any host or process, even days later.
   * The result has a handle to the turn, which continues when no other call of it waits. A repeated answer changes
   * nothing. A different answer is refused, and so is one to a call that does not wait for the caller. The refusal says
   * why.
   */
  answerTool(callId: string, answer: ToolAnswer): Promise<Resumed> {
    return answerTool(this.#thread, callId, answer);
  }

  /** Returns the present state; null when the thread does not exist. Takes no lease, so any process may read it. */
  state(): Promise<State | null> {
    return look(this.#thread, loadAll, "whole");
  }

  /**
   * Returns a function's view of the present state; null when the thread does not exist. Only the parts that it
   * accesses are read, so it may be called again, and must be pure. It must return plain data, and no turn of the
   * state. Takes no lease.
   */
  look<Seen>(see: (state: State) => Seen): Promise<Seen | null> {
    return look(this.#thread, see);
  }

  /** Explains what the next prompt would show, unit by unit; null without a thread. Takes no lease. */
  explain(): Promise<Explanation | null> {
    return look(this.#thread, (state) => explain(this.#thread.host.machine, state));
  }

  /** Returns the thread's size, and how much of it the next prompt shows; null without one. Takes no lease. */
  figures(): Promise<ThreadFigures | null> {
    return look(this.#thread, (state) => figuresOf(this.#thread.host.machine, state));
  }

  /** Sends an event to the machine, except `thread.redacted` (see `redact`). A refusal is returned, not thrown. */
  send(event: Event): Promise<Receipt> {
    return send(this.#thread, event);
  }

  /** Starts the thread. Rejects with `ThreadExistsError`, or `SeedError` for a seed that is not a conversation. */
  start(input: ThreadDefaults = {}): Promise<void> {
    return startThread(this.#thread, input);
  }

  /** Adds a message to the thread without calling a model; in an open turn, at its next gap. */
  append(message: MessageDraft): Promise<void> {
    return submit(this.#thread, { type: "message.appended", message });
  }

  /**
   * Adds a whole round that was made elsewhere: an assistant's tool calls, and one result for each call, in the order
   * of the calls. No model is called and no tool is run. In an open turn it is added at its next gap.
   */
  appendRound(reply: RoundAppended["reply"], results: RoundAppended["results"], metadata?: JsonObject): Promise<void> {
    return submit(this.#thread, { type: "round.appended", reply, results, metadata });
  }

  /** Adds a whole turn that was made elsewhere to the thread, after the head. */
  addTurn(messages: readonly SeedDraft[], metadata?: JsonObject): Promise<void> {
    return submit(this.#thread, { type: "turn.added", messages, metadata });
  }

  /** Annotates a turn, for instance with a score. */
  annotate(turn: number, name: string, value: TurnAnnotated["value"], metadata?: JsonObject): Promise<void> {
    return submit(this.#thread, { type: "turn.annotated", turn, name, value, metadata });
  }

  /**
   * Truncates the answer of a turn to the characters that were spoken or shown, counted as a reader does (graphemes of
   * UAX 29, not UTF-16 units). Prompts show no more of it.
   */
  truncate(turn: number, characters: number): Promise<void> {
    return submit(this.#thread, { type: "answer.truncated", turn, characters });
  }

  /** Replaces the system prompt from the next model call on; null for none. */
  changeSystem(system: SystemDraft | null): Promise<void> {
    return submit(this.#thread, { type: "system.changed", system });
  }

  /** Restores the system prompt that the thread started with. */
  resetSystem(): Promise<void> {
    return submit(this.#thread, { type: "system.reset" });
  }

  /** Replaces the thread's metadata as a whole. */
  setMetadata(metadata: JsonObject): Promise<void> {
    return submit(this.#thread, { type: "metadata.changed", metadata });
  }

  /** Pins a message of the path, by its id: each prompt shows it whole, with its round. */
  pin(messageId: string): Promise<void> {
    return submit(this.#thread, { type: "message.pinned", message: messageId, pinned: true });
  }

  /** Unpins a message: the policy decides again how it is shown. */
  unpin(messageId: string): Promise<void> {
    return submit(this.#thread, { type: "message.pinned", message: messageId, pinned: false });
  }

  /** Moves the head after another turn, by its number (0: the beginning) or the name of a checkpoint. */
  moveHead(to: HeadMoved["to"]): Promise<void> {
    return submit(this.#thread, { type: "head.moved", to });
  }

  /** Moves the head after a turn: the next ask is another branch after it. */
  branch(turn: number): Promise<void> {
    return this.moveHead(turn);
  }

  /** Takes back the newest turns of the path, `steps` at most. Returns them, newest first. */
  undo(steps = 1): Promise<readonly Turn[]> {
    return moveBy(this.#thread, steps, undoTarget);
  }

  /** Takes back the newest turn, and returns it; null at the beginning. */
  async pop(): Promise<Turn | null> {
    return (await this.undo())[0] ?? null;
  }

  /** Moves the head forward again, by `steps` turns at most. Returns these, newest first. */
  redo(steps = 1): Promise<readonly Turn[]> {
    return moveBy(this.#thread, steps, redoTarget);
  }

  /** Moves the head back to the seed. */
  clear(): Promise<void> {
    return this.moveHead(0);
  }

  /** Clears the conversation, and restores the system prompt that the thread started with. */
  async reset(): Promise<void> {
    await this.clear();
    await this.resetSystem();
  }

  /** Names the present place, for a later `restore`. A name that is used again moves to the new place. */
  checkpoint(name: string): Promise<void> {
    return submit(this.#thread, { type: "checkpoint.named", name });
  }

  /** Continues at the checkpoint of that name. The refusal of an unknown name lists the known ones. */
  restore(name: string): Promise<void> {
    return this.moveHead({ checkpoint: name });
  }

  /** Returns the checkpoints of the thread. Takes no lease. */
  checkpoints(): Promise<readonly Checkpoint[]> {
    return checkpointsOf(this.#thread);
  }

  /**
   * Cancels the open turn, whichever ask opened it. With an `askId`, cancels only that ask, open or waiting; its turn
   * continues for its other asks.
   */
  cancel(reason?: string, askId?: string): Promise<void> {
    return submit(this.#thread, { type: "cancel.requested", reason, askId });
  }

  /** Returns the whole journal, entry by entry, for `host.importJournal`. Takes no lease. */
  exportJournal(): Promise<readonly Entry[]> {
    return exportJournal(this.#thread);
  }

  /** Returns the state after an entry, by its `seq`. Takes no lease. */
  at(seq: number): Promise<State> {
    return stateBehind(this.#thread, seq);
  }

  /** Returns how the state after entry `to` differs from the state after entry `from`. Takes no lease. */
  difference(from: number, to: number): Promise<StateDifference> {
    return differenceIn(this.#thread, from, to);
  }

  /**
   * Copies the thread up to a turn into a new one. Nothing is run again. Work that is in progress or waits here stays
   * here. Takes no lease on this thread. Rejects with `ThreadExistsError`.
   */
  async fork(options: ForkOptions = {}): Promise<Fork> {
    const { threadId, left } = await forkThread(this.#thread, options);
    return { thread: new HostedThread({ ...this.#thread, id: threadId }), left };
  }

  /**
   * Removes words from the journal for good, and everything that was derived from them: summaries, the snapshot, the
   * search index. The entries stay, without their words. Returns the seqs of this thread's entries. Refused as busy
   * while a turn is open. Forks are redacted first. If one fails, call `redact` again; finished work is not repeated.
   */
  redact(target: RedactionTarget, options: RedactOptions = {}): Promise<readonly number[]> {
    return redactThread(this.#thread, target, options);
  }

  /**
   * Deletes the thread: none of its words are in the store any more. If it is open here, it is closed first. Returns
   * false if there was none. Its forks are threads of their own, and stay. An ask that another host makes meanwhile
   * starts a new thread of that id.
   */
  delete(): Promise<boolean> {
    return deleteThread(this.#thread);
  }

  /**
   * Moves the thread to another host, over another store, entry by entry and unchanged. Its unfinished work continues
   * there when it is next used. It is deleted here once it is stored there; if the move is interrupted, call it again.
   * Rejects with `ThreadExistsError` if the other host has a different thread of that id, with `EventRefusedError`
   * while an item waits in the inbox; then nothing changes. Asks that are open here fail with `ThreadClosedError`.
   */
  moveTo(other: MoveTarget<HostedThread>): Promise<HostedThread> {
    return moveThread(this.#thread, other);
  }

  /**
   * Closes the thread here and releases its lease. Work in progress stops, and continues when the thread is next
   * opened, here or elsewhere.
   */
  async close(): Promise<void> {
    await this.#thread.loops.opened(this.id)?.close();
  }
}
