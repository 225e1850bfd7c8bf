import { type AskHandle, type AskPart, type AskResult, TurnError, TurnFailedError } from "@colloquy/host";
import { checkOptions } from "@colloquy/host/store";
import { randomIds, reasonOf } from "@colloquy/runtime-node";
import type { SessionCore } from "../core/core.ts";
import { mostShown } from "../core/policy.ts";
import { Pending } from "../core/pending.ts";
import type { WaitingCall } from "../core/waiting-calls.ts";
import { Frame, frameHere } from "../nesting/frame.ts";
import { exchangesGiven, type PlainExchange } from "../program/exchange.ts";
import { type Fields, fieldsOf, partsOf } from "../program/fields.ts";
import { type Marks, withMarks } from "../program/marks.ts";
import { type Memory, memoryGiven } from "../program/memory.ts";
import type { CallPart } from "../program/parts.ts";
import { validated } from "../program/signature.ts";
import { type CallHandle, callOptionKinds, type CallOptions, type GivenHistory, historyKinds } from "./call.ts";
import { PartBuffer } from "../core/part-buffer.ts";
import { type CallPlace, pathSegment, placeOf, type ThreadPlace, type Where } from "./place.ts";
import { runProgram } from "./run-program.ts";

/** Calls the program of a session. */
export const beginCall = (
  core: SessionCore,
  where: Where,
  inputs: object,
  options: CallOptions = {},
): CallHandle<object> => {
  const outer = frameHere();
  try {
    checkOptions("call", options, callOptionKinds);
    const history = historyGiven(options.history);
    const place: CallPlace =
      history?.as === "override" ? { memory: memoryGiven(history.exchanges) } : placeOf(core, where, outer);
    const call = new Call(core, outer, place, inputs, options);
    return new Handle(call, "thread" in place ? call.onThread(place, history) : call.apart(where, place.memory));
  } catch (thrown) {
    const askId = options?.askId ?? randomIds.draw("ask");
    const parts = new PartBuffer<CallPart>();
    const none = { threadId: null, askId, parts, abort: () => {}, settled: () => parts.end(thrown) };
    return new Handle(none, Promise.reject(thrown));
  }
};

/** A running call in this process. */
class Call implements WaitingCall {
  readonly threadId: string | null;
  readonly askId: string;
  readonly parts = new PartBuffer<CallPart>();
  readonly #core: SessionCore;
  readonly #outer: Frame | null;
  readonly #inputs: Promise<Fields>;
  readonly #options: CallOptions;
  readonly #stopped = new AbortController();
  #handle: AskHandle | null = null;
  /** Parts that the program shows before its turn's first part was read; null from then on. */
  #early: CallPart[] | null = [];
  #own: { readonly error: unknown } | null = null;
  #after: Promise<void> = Promise.resolve();

  constructor(core: SessionCore, outer: Frame | null, place: CallPlace, inputs: object, options: CallOptions) {
    this.#core = core;
    this.#outer = outer;
    this.#options = options;
    this.threadId = "thread" in place ? place.thread.id : null;
    this.askId = options.askId ?? outer?.idOf(core.name, inputs) ?? randomIds.draw("ask");
    // Copied at once, so that later changes by the caller have no effect.
    this.#inputs = validated(`the inputs of "${core.name}"`, core.options.signature?.inputs, inputs);
    outer?.onCancel(() => this.abort("the call around it was cancelled"));
  }

  isWithin(session: object): boolean {
    return this.#outer?.isWithin(session) ?? false;
  }

  show(part: CallPart): void {
    if (this.#early !== null) this.#early.push(part);
    else this.#push(part);
  }

  threw(error: unknown): void {
    this.#own = { error };
  }

  after(done: Promise<void>): void {
    this.#after = done;
  }

  abort(reason?: string): void {
    if (this.#handle === null) this.#stopped.abort(reason);
    else this.#handle.abort(reason);
  }

  /** Ends the parts, unless an ask was made: then its own last part ends them. */
  settled(error: unknown): void {
    if (this.#handle === null) this.parts.end(error);
  }

  /** Asks on a thread, in the order of the calls. */
  async onThread(place: ThreadPlace, history: Given | null): Promise<object> {
    const { ground, thread } = place;
    const over = this.#core.waiting.add(thread.id, this.askId, this);
    try {
      const inputs = await this.#inputs;
      const { handle } = await ground.inOrder(thread.id, async () => {
        await this.#core.ready(ground, thread, place);
        return this.#asked(place, inputs, history);
      });
      return await this.#resultOf(handle);
    } finally {
      over();
    }
  }

  /** Runs the program without a turn. */
  async apart({ threadId }: Where, memory: Memory): Promise<object> {
    const outer = this.#outer;
    this.#early = null;
    const inputs = await this.#inputs;
    const over = new AbortController();
    const cancelled = this.#cancelled(outer?.signal, over.signal);
    // A separate key, even if the caller's id is the number of a turn, or is used on another thread.
    const key = `${outer?.key ?? threadId}/apart:${pathSegment(this.askId)}`;
    const frame = new Frame({
      key: outer !== null && this.#options.askId === undefined ? this.askId : key,
      turn: outer?.turn ?? null,
      path: outer === null ? [] : [...outer.path, this.#core.name],
      ancestors: outer?.ancestors ?? [],
      memory,
      ground: this.#core.ground(outer?.ground),
      signal: cancelled.signal,
      show: (part) => this.show(part),
      isWithin: (session) => session === this.#core || this.isWithin(session),
    });
    try {
      const run = runProgram(this.#core, frame, inputs, { threadId: null, turn: null });
      return structuredClone(await Promise.race([run, cancelled.promise]));
    } finally {
      over.abort();
      outer?.used(frame.usage);
      outer?.toolUse.push(...frame.toolUse);
    }
  }

  async #asked(
    { ground, thread }: ThreadPlace,
    inputs: Fields,
    history: Given | null,
  ): Promise<{ readonly handle: AskHandle }> {
    const anew = history?.as === "replaceSession";
    if (anew) await ground.settled(thread.id);
    const replaced = anew ? ((await thread.state())?.context.conversation.head ?? 0) : null;
    const handle = thread.ask(partsOf(inputs), {
      askId: this.askId,
      signal: AbortSignal.any(this.#signals()),
      // In one entry with the ask, so that after a crash either the conversation is unchanged or the call is running.
      ...(replaced === null ? {} : { from: 0 }),
      metadata: withMarks(this.#options.metadata, this.#marks(history, replaced)),
    });
    this.#handle = handle;
    void this.#showAll(handle);
    ground.track(thread.id, handle);
    // Later calls wait, because the conversation returns to its old head if this call fails.
    if (anew) await ground.settled(thread.id);
    return { handle };
  }

  #marks(history: Given | null, replaced: number | null): Marks {
    const outer = this.#outer;
    // The thread's metadata already contain the parent's creation time.
    const { parentCreatedAt: _, ...hanging } = outer?.hanging(this.#core.name) ?? {};
    const given = history?.exchanges ?? [];
    const most = mostShown(this.#core.options);
    return {
      askId: this.askId,
      ...(Number.isFinite(most) ? { most } : {}),
      ...(history === null ? {} : { history: replaced === null ? { instead: given } : { before: given } }),
      ...(replaced === null ? {} : { replaced }),
      ...(outer === null ? {} : { ...hanging, ancestors: outer.ancestors }),
    };
  }

  async #resultOf(handle: AskHandle): Promise<object> {
    try {
      const answered: AskResult = await handle;
      this.#outer?.used(answered.usage);
      await this.#after;
      return structuredClone(fieldsOf(answered.messages.findLast(({ role }) => role === "assistant")));
    } catch (thrown) {
      if (thrown instanceof TurnError) this.#outer?.used(thrown.summary.usage);
      await this.#after;
      throw thrown instanceof TurnFailedError && this.#own !== null ? this.#own.error : thrown;
    }
  }

  async #showAll(handle: AsyncIterable<AskPart>): Promise<void> {
    try {
      for await (const part of handle) {
        this.#push(part);
        if (part.type !== "turn.started") continue;
        for (const early of this.#early ?? []) this.#push(early);
        this.#early = null;
      }
      this.parts.end();
    } catch (thrown) {
      this.parts.end(thrown);
    }
  }

  #push(part: CallPart): void {
    this.parts.push(part);
    this.#outer?.show({ type: "nested", name: this.#core.name, threadId: this.threadId, part });
  }

  #signals(): AbortSignal[] {
    const { signal } = this.#options;
    return [this.#stopped.signal, ...(signal === undefined ? [] : [signal])];
  }

  /**
   * Returns a signal for a run apart, and a promise that rejects with the signal's reason. A cancellation by the caller
   * cancels the run and the calls within, whatever its reason. A cancellation by the outer run keeps its reason.
   *
   * @param over stops the listening, because a signal of the caller may outlive many calls.
   */
  #cancelled(outer: AbortSignal | undefined, over: AbortSignal): Cancelled {
    const stop = new AbortController();
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    const follow = (signal: AbortSignal, reason: () => unknown): void => {
      const end = (): void => {
        stop.abort(reason());
        reject(stop.signal.reason);
      };
      if (signal.aborted) end();
      else signal.addEventListener("abort", end, { once: true, signal: over });
    };
    for (const signal of this.#signals()) follow(signal, () => cancellation(signal.reason));
    if (outer !== undefined) follow(outer, () => outer.reason);
    return { signal: stop.signal, promise };
  }
}

/** The handle of a call for its caller. */
class Handle extends Pending<object, CallPart> implements CallHandle<object> {
  readonly threadId: string | null;
  readonly askId: string;

  constructor(call: Pick<Call, "threadId" | "askId" | "parts" | "abort" | "settled">, result: Promise<object>) {
    super(
      result,
      () => call.parts,
      (reason) => call.abort(reason),
    );
    this.threadId = call.threadId;
    this.askId = call.askId;
    result.then(
      () => call.settled(null),
      (error: unknown) => call.settled(error),
    );
  }
}

interface Cancelled {
  readonly signal: AbortSignal;
  readonly promise: Promise<never>;
}

const cancellation = (reason: unknown): DOMException =>
  reason instanceof DOMException ? reason : new DOMException(`cancelled: ${reasonOf(reason)}`, "AbortError");

interface Given {
  readonly exchanges: readonly PlainExchange[];
  readonly as: GivenHistory["as"];
}

const historyGiven = (history: GivenHistory | undefined): Given | null => {
  if (history === undefined) return null;
  checkOptions("call: history", history, historyKinds);
  return { as: history.as, exchanges: exchangesGiven("the history", history.exchanges) };
};
