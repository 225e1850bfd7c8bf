import type {
  AskReceived,
  Content,
  Entry,
  Event,
  Explanation,
  HeadMoved,
  JsonObject,
  Limits,
  MessageDraft,
  Refusal,
  State,
  SystemDraft,
  ThreadFigures,
  ThreadStarted,
} from "@colloquy/machine";
import { explain, figuresOf } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { Ask } from "./ask/ask.ts";
import type { AskHandle } from "./ask/ask.ts";
import type { Equipment, ThreadDefaults } from "./equipment.ts";
import { AskRefusedError, EventRefusedError, ThreadClosedError } from "./errors.ts";
import type { Ids } from "./ports/ids.ts";
import type { ThreadLoop } from "./thread/loop.ts";
import { load } from "./thread/opening.ts";
import { toldEvent } from "./told-event.ts";
import { messageOf } from "./thrown.ts";
import type { ToolContext } from "./tools/tool.ts";

/** What is asked: a text, its parts, or whole messages. An empty list asks the model to go on. */
export type AskInput = Content | readonly MessageDraft[];

/** How something is asked. */
export interface AskOptions {
  /** The same id gives the same outcome, however often it is asked, also after a restart. Default: drawn. */
  readonly askId?: string;
  /** Cancels the ask. One that is aborted already leaves nothing behind. */
  readonly signal?: AbortSignal;
  /** Who asks, for the model. */
  readonly name?: string;
  readonly metadata?: JsonObject;
  /** Laid over the thread's model parameters, member by member, for this turn. */
  readonly model?: JsonObject;
  /** Laid over the machine's limits for this turn. */
  readonly limits?: Limits;
  /** Laid over the host's tool context, member by member, for this turn's tools. Never journalled. */
  readonly toolContext?: ToolContext;
}

/** What became of an event. */
export type Receipt =
  | { readonly handled: true; readonly entry: Entry }
  | { readonly handled: false; readonly refusal: Refusal };

/**
 * One thread of a host. Using it opens the thread here: its lease is taken, its journal read, and what was under
 * way goes on. A thread that is not there is made by the first ask, message or system prompt, or by `start`.
 *
 * All but `ask` reject with `ThreadHeldError` when another host holds it, with `EventRefusedError` when the machine
 * refuses, and with `LeaseLostError` or `StoreError` when it can't be known what became of the event.
 */
export class HostedThread {
  readonly id: string;
  readonly #equipment: Equipment;
  readonly #ids: Ids;
  readonly #loops: Loops;

  constructor(id: string, equipment: Equipment, ids: Ids, loops: Loops) {
    this.id = id;
    this.#equipment = equipment;
    this.#ids = ids;
    this.#loops = loops;
  }

  /** Asks. Returns at once; the handle tells all that follows. */
  ask(input: AskInput, options: AskOptions = {}): AskHandle {
    const { askId = this.#ids.draw("ask"), signal, toolContext } = options;
    const ask = new Ask(this.id, askId, toolContext, (stopped, reason) => this.#stop(stopped, reason));
    if (signal !== undefined) ask.listenTo(signal);
    if (ask.settled) return ask;
    const event = askEvent(this.#equipment.clock.now(), askId, input, options);
    const loop = this.#loops.use(this.id);
    if (Either.isLeft(event)) ask.fail(new AskRefusedError(this.id, askId, event.left));
    else if (loop === null) ask.fail(new ThreadClosedError(this.id));
    else loop.postAsk(ask, event.right);
    return ask;
  }

  /** Begins the thread. Rejects with `ThreadExistsError` when it was begun before, with `SeedError` for a seed that is no conversation. */
  async start(input: ThreadDefaults = {}): Promise<void> {
    await this.#post({ ...input, type: "thread.started", threadId: this.id, at: this.#equipment.clock.now() });
  }

  /** A message joins the thread, and no model is called; in an open turn, at its next gap. */
  async append(message: MessageDraft): Promise<void> {
    await this.#tell({ type: "message.appended", at: this.#equipment.clock.now(), message });
  }

  /** The system prompt is another from the next model call on; null for none. */
  async changeSystem(system: SystemDraft | null): Promise<void> {
    await this.#tell({ type: "system.changed", at: this.#equipment.clock.now(), system });
  }

  /** From here on each prompt shows a message of the path whole, by its id, with the round that it belongs to. */
  async pin(messageId: string): Promise<void> {
    await this.#pin(messageId, true);
  }

  /** A message is shown again as the policy has it. */
  async unpin(messageId: string): Promise<void> {
    await this.#pin(messageId, false);
  }

  /** The conversation goes on behind another turn, by its number (0 is the beginning) or by the name of a checkpoint. Nothing is removed. */
  async moveHead(to: HeadMoved["to"]): Promise<void> {
    await this.#tell({ type: "head.moved", at: this.#equipment.clock.now(), to });
  }

  /** Cancels the open turn, whoever asked. */
  async cancel(reason?: string): Promise<void> {
    await this.#tell({
      type: "cancel.requested",
      at: this.#equipment.clock.now(),
      ...(reason === undefined ? {} : { reason }),
    });
  }

  /** Tells the machine anything. A refusal is returned, not thrown. */
  async send(event: Event): Promise<Receipt> {
    const told = toldEvent(event);
    return Either.isLeft(told) ? { handled: false, refusal: told.left } : this.#post(told.right);
  }

  /** The present state; null when there is no such thread. Takes no lease, so anybody may look. */
  async state(): Promise<State | null> {
    return this.#loops.opened(this.id)?.state ?? (await load(this.#equipment, this.id));
  }

  /** What the next prompt would show of the thread, unit by unit, and why; null when there is no such thread. Takes no lease. */
  async explain(): Promise<Explanation | null> {
    const state = await this.state();
    return state === null ? null : explain(this.#equipment.machine, state);
  }

  /** How large the thread is, and how much of it the next prompt shows; null when there is no such thread. Takes no lease. */
  async figures(): Promise<ThreadFigures | null> {
    const state = await this.state();
    return state === null ? null : figuresOf(this.#equipment.machine, state);
  }

  /** Lets go of the thread: what is under way here is stopped, and goes on when it is next opened, here or elsewhere. */
  async close(): Promise<void> {
    await this.#loops.opened(this.id)?.close();
  }

  async #pin(message: string, pinned: boolean): Promise<void> {
    await this.#tell({ type: "message.pinned", at: this.#equipment.clock.now(), message, pinned });
  }

  async #tell(event: Event): Promise<void> {
    const receipt = await this.send(event);
    if (!receipt.handled) throw new EventRefusedError(this.id, receipt.refusal);
  }

  #post(event: Event | ThreadStarted): Promise<Receipt> {
    const loop = this.#loops.use(this.id);
    if (loop === null) return Promise.reject(new ThreadClosedError(this.id));
    return new Promise((resolve, reject) => {
      loop.post({
        event,
        receipt: {
          accepted: (entry) => resolve({ handled: true, entry }),
          refused: (refusal) => resolve({ handled: false, refusal }),
          failed: reject,
        },
      });
    });
  }

  #stop(ask: Ask, reason: string | undefined): boolean {
    const loop = this.#loops.opened(this.id);
    if (loop === undefined || loop.takeBack(ask)) return true;
    // Whoever writes JavaScript may hand in an error, as to `AbortController.abort`.
    const why = reason === undefined ? {} : { reason: messageOf(reason) };
    const at = this.#equipment.clock.now();
    loop.post({ event: { type: "cancel.requested", at, askId: ask.askId, ...why }, receipt: null });
    return false;
  }
}

/** The loops of a host. */
export interface Loops {
  /** The loop of a thread, opened if need be; null when the host is closed. */
  use(threadId: string): ThreadLoop | null;
  /** The loop of a thread that is open here. */
  opened(threadId: string): ThreadLoop | undefined;
}

/** A plain text needs no copy, and no check. */
const askEvent = (
  at: number,
  askId: string,
  input: AskInput,
  { name, metadata, model, limits }: AskOptions,
): Either.Either<Refusal, AskReceived> => {
  const event: AskReceived = { type: "ask.received", at, askId, input };
  const texts = typeof input === "string" && typeof askId === "string" && askId !== "";
  if (texts && (name ?? metadata ?? model ?? limits) === undefined) return Either.right(event);
  return toldEvent({
    ...event,
    ...(name === undefined ? {} : { name }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(model === undefined ? {} : { model }),
    ...(limits === undefined ? {} : { limits }),
  });
};
