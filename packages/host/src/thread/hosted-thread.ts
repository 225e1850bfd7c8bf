import type {
  AskRecord,
  CallTool,
  Entry,
  Event,
  HeadMoved,
  JsonObject,
  MessageDraft,
  RequestApproval,
  RoundAppended,
  SeedDraft,
  State,
  SystemDraft,
  Turn,
  TurnAnnotated,
} from "@colloquy/machine";
import { approvalsOf, askNamed, asksOf, callsToAnswer, redoTarget, undoTarget } from "@colloquy/machine";
import type { Explanation, StateDifference, ThreadFigures } from "@colloquy/machine/inspect";
import { explain, figuresOf } from "@colloquy/machine/inspect";
import { loadAll, type RedactionTarget } from "@colloquy/machine/storage";
import type { AskInput, AskOptions, SteerOptions } from "../ask/ask-event.ts";
import type { AskHandle } from "../ask/ask-handle.ts";
import type { ThreadDefaults } from "../context/host-context.ts";
import type { OutputOf, OutputSchema, WrittenOf } from "../output/expected.ts";
import { answerTool, type ToolAnswer } from "./answer-tool.ts";
import { approve, type ApproveOptions, deny, type DenyOptions } from "./approve.ts";
import { askOn, steerOn } from "./asking.ts";
import { deleteThread } from "./delete.ts";
import { type ForkOf, type ForkOptions, forkThread } from "./fork.ts";
import { differenceIn, exportJournal, stateBehind } from "./history.ts";
import { moveThread, type MoveTarget } from "./move-to.ts";
import { type Checkpoint, checkpointsOf, moveBy } from "./move.ts";
import { redactThread, type RedactOptions } from "./redact.ts";
import { rejoin, type RejoinOptions } from "./rejoin.ts";
import { resume, type Resumed } from "./resume.ts";
import { look, type Receipt, send, startThread, submit, type ThreadRef } from "./thread-ref.ts";

/** A copy of a thread. */
export type Fork = ForkOf<HostedThread>;

/**
 * One thread of a host. Using it opens the thread here: its lease is taken, its journal read, and what was under
 * way goes on. A thread that is not there is made by the first ask, message or system prompt, or by `start`. What can be
 * changed about it by hand is one entry more each: nothing is removed by any of them but `redact`, `delete` and `moveTo`.
 *
 * All but `ask` and `steer` reject with `ThreadHeldError` when another host holds it and can't be reached, with
 * `EventRefusedError` when the machine refuses, with `LeaseLostError` or `StoreError` when it is not known what came of it.
 */
export class HostedThread {
  readonly id: string;
  readonly #thread: ThreadRef;

  constructor(thread: ThreadRef) {
    this.id = thread.id;
    this.#thread = thread;
  }

  /** Asks. Returns at once; the handle shows all that follows. With `output` its result has an output, validated by that schema. */
  ask<Schema extends OutputSchema = never>(
    input: AskInput,
    options: AskOptions<Schema> = {},
  ): AskHandle<OutputOf<Schema>, WrittenOf<Schema>> {
    return askOn(this.#thread, input, options);
  }

  /** Asks within the turn that is open: its next prompt shows it, and its answer is this one's. Refused where none is open; given back where the turn ends before. */
  steer(input: AskInput, options: SteerOptions = {}): AskHandle {
    return steerOn(this.#thread, input, options);
  }

  /**
   * A handle to an ask that was made before: its parts begin with those that were shown already, and then come live, also in
   * another process where hosts keep a log (`partsMs`), and for some time after the end (`keepPartsMs`). What is not kept is
   * made from the journal, behind `replay.started`. With `from`, the `cursor` of any handle to the ask: only those behind it.
   */
  rejoin(askId: string, options: RejoinOptions = {}): AskHandle {
    return rejoin(this.#thread, askId, options);
  }

  /** Takes the thread up: what was under way when a process died goes on, and the result has handles to it. Rejects with `ThreadUnknownError`, `ThreadHeldError`; `host.start` tries again for another host's lease. */
  resume(): Promise<Resumed> {
    return resume(this.#thread);
  }

  /** What is known of an ask by its id, also long after; null for none, or one of more than some 256 turns ago. Takes no lease. */
  asked(askId: string): Promise<AskRecord | null> {
    return look(this.#thread, (state) => askNamed(state, askId));
  }

  /** What is known of the last asks, the newest last. Default: of 256. Takes no lease. */
  async asks(last?: number): Promise<readonly AskRecord[]> {
    return (await look(this.#thread, (state) => asksOf(state, last))) ?? [];
  }

  /** The tool calls that wait for approval. Takes no lease. */
  async approvals(): Promise<readonly RequestApproval[]> {
    return (await look(this.#thread, approvalsOf)) ?? [];
  }

  /**
   * Has a tool call run, by the `id` of its request, whenever and by whichever host that was made: exactly what was shown. A
   * call whose tool or arguments differ by now is asked about anew. Where another host holds the thread, the answer goes by
   * the store. The result has a handle to the turn. Rejects with `ConfigurationError` where this host has no such tool.
   */
  approve(id: string, options: ApproveOptions = {}): Promise<Resumed> {
    return approve(this.#thread, id, options);
  }

  /** Has a tool call not run. The model reads so, and goes on. The result has a handle to the turn. */
  deny(id: string, options: DenyOptions = {}): Promise<Resumed> {
    return deny(this.#thread, id, options);
  }

  /** The calls of the caller's tools that wait for their results. Takes no lease. */
  async callsToAnswer(): Promise<readonly CallTool[]> {
    return (await look(this.#thread, callsToAnswer)) ?? [];
  }

  /** Gives the result of a call that waits for the caller, by its `callId`, from any host or process, in days if need be. The result has a handle to the turn, which goes on when nothing else of it waits. The same answer again changes nothing; any other to a call that has its result, or that no caller is asked for, is refused in words. */
  answerTool(callId: string, answer: ToolAnswer): Promise<Resumed> {
    return answerTool(this.#thread, callId, answer);
  }

  /** The present state; null when there is no such thread. Takes no lease, so it may be looked at from anywhere. */
  state(): Promise<State | null> {
    return look(this.#thread, loadAll, "whole");
  }

  /** What a function sees of the present state; null when there is no such thread. Only what it looks at is read, so it may be called again, and must be pure; what it gives must be plain data, and no turn of the state. Takes no lease. */
  look<Seen>(see: (state: State) => Seen): Promise<Seen | null> {
    return look(this.#thread, see);
  }

  /** What the next prompt would show of the thread, unit by unit, and why; null when there is no such thread. Takes no lease. */
  explain(): Promise<Explanation | null> {
    return look(this.#thread, (state) => explain(this.#thread.host.machine, state));
  }

  /** How large the thread is, and how much of it the next prompt shows; null when there is no such thread. Takes no lease. */
  figures(): Promise<ThreadFigures | null> {
    return look(this.#thread, (state) => figuresOf(this.#thread.host.machine, state));
  }

  /** Has the machine handle any event but `thread.redacted`, which is more than an event: `redact` does that. A refusal is returned, not thrown. */
  send(event: Event): Promise<Receipt> {
    return send(this.#thread, event);
  }

  /** Begins the thread. Rejects with `ThreadExistsError` when it was begun before, with `SeedError` for a seed that is no conversation. */
  start(input: ThreadDefaults = {}): Promise<void> {
    return startThread(this.#thread, input);
  }

  /** A message joins the thread, and no model is called; in an open turn, at its next gap. */
  append(message: MessageDraft): Promise<void> {
    return submit(this.#thread, { type: "message.appended", message });
  }

  /** A whole round that was had elsewhere joins the thread: what an assistant asked tools for, and one result for each call, in the order of the calls. No model is called and no tool is run; in an open turn, at its next gap. The thread's journal rises to format 2, which versions before 0.2 refuse to read. */
  appendRound(reply: RoundAppended["reply"], results: RoundAppended["results"], metadata?: JsonObject): Promise<void> {
    return submit(this.#thread, { type: "round.appended", reply, results, metadata });
  }

  /** A turn that did not happen here joins the thread, whole, behind the head. */
  addTurn(messages: readonly SeedDraft[], metadata?: JsonObject): Promise<void> {
    return submit(this.#thread, { type: "turn.added", messages, metadata });
  }

  /** Something is said about a turn, such as a score. */
  annotate(turn: number, name: string, value: TurnAnnotated["value"], metadata?: JsonObject): Promise<void> {
    return submit(this.#thread, { type: "turn.annotated", turn, name, value, metadata });
  }

  /** Of the answer of a turn only so many characters were spoken or shown, counted as a reader does (graphemes of UAX 29, not UTF-16 units); prompts show no more of it. */
  truncate(turn: number, characters: number): Promise<void> {
    return submit(this.#thread, { type: "answer.truncated", turn, characters });
  }

  /** The system prompt is another from the next model call on; null for none. */
  changeSystem(system: SystemDraft | null): Promise<void> {
    return submit(this.#thread, { type: "system.changed", system });
  }

  /** The system prompt is the one that the thread began with. */
  resetSystem(): Promise<void> {
    return submit(this.#thread, { type: "system.reset" });
  }

  /** The thread's metadata is another, whole. */
  setMetadata(metadata: JsonObject): Promise<void> {
    return submit(this.#thread, { type: "metadata.changed", metadata });
  }

  /** From here on each prompt shows a message of the path whole, by its id, with the round that it belongs to. */
  pin(messageId: string): Promise<void> {
    return submit(this.#thread, { type: "message.pinned", message: messageId, pinned: true });
  }

  /** A message is shown again as the policy has it. */
  unpin(messageId: string): Promise<void> {
    return submit(this.#thread, { type: "message.pinned", message: messageId, pinned: false });
  }

  /** The conversation goes on behind another turn, by its number (0 is the beginning) or by the name of a checkpoint. */
  moveHead(to: HeadMoved["to"]): Promise<void> {
    return submit(this.#thread, { type: "head.moved", to });
  }

  /** The same for a turn: what is asked next is another branch behind it. */
  branch(turn: number): Promise<void> {
    return this.moveHead(turn);
  }

  /** Takes back the newest turns of the path, as many as there are at most. Gives them, newest first. */
  undo(steps = 1): Promise<readonly Turn[]> {
    return moveBy(this.#thread, steps, undoTarget);
  }

  /** Takes back the newest turn, and gives it; null at the beginning. */
  async pop(): Promise<Turn | null> {
    return (await this.undo())[0] ?? null;
  }

  /** Goes on towards the newest turn that continues from the head, as many turns as there are at most. Gives them, newest first. */
  redo(steps = 1): Promise<readonly Turn[]> {
    return moveBy(this.#thread, steps, redoTarget);
  }

  /** The conversation goes on behind what the thread was seeded with. */
  clear(): Promise<void> {
    return this.moveHead(0);
  }

  /** As `clear`, and the system prompt is the one that the thread began with. */
  async reset(): Promise<void> {
    await this.clear();
    await this.resetSystem();
  }

  /** Gives the present place a name, to come back to by `restore`. A name that is given again means the new place. */
  checkpoint(name: string): Promise<void> {
    return submit(this.#thread, { type: "checkpoint.named", name });
  }

  /** The conversation continues at the checkpoint of that name. One that is not there is refused with the names that are. */
  restore(name: string): Promise<void> {
    return this.moveHead({ checkpoint: name });
  }

  /** The names that were given. Takes no lease. */
  checkpoints(): Promise<readonly Checkpoint[]> {
    return checkpointsOf(this.#thread);
  }

  /** Cancels the open turn, whichever ask opened it; with an `askId` only that ask, open or waiting, whose turn goes on for its other asks. */
  cancel(reason?: string, askId?: string): Promise<void> {
    return submit(this.#thread, { type: "cancel.requested", reason, askId });
  }

  /** The journal, entry by entry: all there is of the thread. `host.importJournal` reads it back. Takes no lease. */
  exportJournal(): Promise<readonly Entry[]> {
    return exportJournal(this.#thread);
  }

  /** The state as it was behind an entry, by its `seq`. Takes no lease. */
  at(seq: number): Promise<State> {
    return stateBehind(this.#thread, seq);
  }

  /** What is otherwise behind one entry than behind another. Takes no lease. */
  difference(from: number, to: number): Promise<StateDifference> {
    return differenceIn(this.#thread, from, to);
  }

  /** Copies the thread up to a turn into a new one. Nothing is run again; what is under way or waits here stays here. Takes no lease on this thread. Rejects with `ThreadExistsError`. */
  async fork(options: ForkOptions = {}): Promise<Fork> {
    const { threadId, left } = await forkThread(this.#thread, options);
    return { thread: new HostedThread({ ...this.#thread, id: threadId }), left };
  }

  /** Takes words out of the journal, for good, and what was derived from them: summaries, the snapshot, what the search found them by. The place stays. Gives the seqs of this thread's entries. Refused as busy while a turn is open. The copies come first; where one can't be redacted, do it again: what is done is done. */
  redact(target: RedactionTarget, options: RedactOptions = {}): Promise<readonly number[]> {
    return redactThread(this.#thread, target, options);
  }

  /** Deletes the thread: nothing that was said in it is in the store any more. One that is open here is closed first. False when there was none. Its forks are threads of their own. What another host asked meanwhile begins a new thread of that id. */
  delete(): Promise<boolean> {
    return deleteThread(this.#thread);
  }

  /** Moves the thread to another host, over another store, entry by entry as it is: what was under way goes on there when it is next used. It is gone here when it is there; where that was cut short, do it again. `ThreadExistsError` where the other has another thread of that id, `EventRefusedError` while something waits in the inbox: then all stays as it was. Asks that are open here fail with `ThreadClosedError`. */
  moveTo(other: MoveTarget<HostedThread>): Promise<HostedThread> {
    return moveThread(this.#thread, other);
  }

  /** Lets go of the thread: what is under way here stops, and goes on when it is next opened, here or elsewhere. */
  async close(): Promise<void> {
    await this.#thread.loops.opened(this.id)?.close();
  }
}
