import { type AskHandle, type AskOptions, TurnError, TurnFailedError } from "@colloquy/host";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import { randomIds, reasonOf } from "@colloquy/runtime-node";
import {
  exchangesGiven,
  type GivenExchange,
  type PlainExchange,
  type Fields,
  fieldsOf,
  partsOf,
  type Marks,
  withMarks,
} from "../program/exchange.ts";
import { type Memory, memoryGiven } from "../program/memory.ts";
import { type CallPart, validated } from "../program/program.ts";
import { mostShown } from "../threads/options.ts";
import type { SharedSession, ThreadPlace } from "../threads/shared-session.ts";
import type { WaitingCall } from "../threads/session-runtime.ts";
import { PartBuffer, pendingCall } from "./pending-call.ts";
import { pathSegment, placeOf, type Where } from "./place.ts";
import { runProgram } from "./program-handler.ts";
import { Run } from "./run.ts";

export interface CallOptions extends Pick<AskOptions, "metadata"> {
  /** Exchanges from the caller, in addition to or in place of the thread's memory. */
  readonly history?: GivenHistory;
  /**
   * Repeated calls with the same id give the same outcome, even after a restart. Default: drawn; within another
   * program, derived from its call.
   */
  readonly askId?: string;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
}

/**
 * `override`: the program sees only these, and nothing is recorded. `useIfProvided`: it sees only these, and the turn
 * is recorded with them. `replaceSession`: the conversation begins again with them; if the call fails, the conversation
 * is unchanged.
 */
export interface GivenHistory {
  readonly exchanges: readonly GivenExchange[];
  readonly as: "override" | "useIfProvided" | "replaceSession";
}

/**
 * A running call. Awaiting it returns a copy of the outputs. It rejects with the program's error, with `SignatureError`
 * for values that do not match the signature, or as an ask of the thread does. A call that is never awaited causes no
 * unhandled rejection.
 *
 * Iterating it yields the parts from the beginning, even if the reading starts late. Beyond some 1,000 parts, the
 * oldest are dropped. The parts end with `turn.ended` if a thread records the call.
 */
export interface CallHandle<Result extends object> extends PromiseLike<Result>, AsyncIterable<CallPart> {
  /** The thread that records the call; null if none does. */
  readonly threadId: string | null;
  readonly askId: string;
  /** Cancels the call, or withdraws it if it is still queued. */
  abort(reason?: string): void;
  catch<Caught>(onRejected: (error: unknown) => Caught | PromiseLike<Caught>): Promise<Result | Caught>;
  finally(onSettled: () => void): Promise<Result>;
}

/** Calls the program of a session. */
export const beginCall = (
  session: SharedSession,
  where: Where,
  inputs: object,
  options: CallOptions = {},
): CallHandle<object> => {
  const outer = Run.here();
  try {
    checkOptions("call", options, callOptionKinds);
    const history = historyGiven(options.history);
    const place =
      history?.as === "override" ? { memory: memoryGiven(history.exchanges) } : placeOf(session, where, outer);
    const threadId = "thread" in place ? place.thread.id : null;
    const call = new Call(session, outer, threadId, inputs, options);
    return call.handle("thread" in place ? call.onThread(place, history) : call.apart(where, place.memory));
  } catch (thrown) {
    const parts = new PartBuffer<CallPart>();
    parts.end(thrown);
    const askId = options?.askId ?? randomIds.draw("ask");
    return pendingCall(Promise.reject(thrown), parts, { threadId: null, askId, abort: () => {} });
  }
};

const callOptionKinds: OptionKinds<CallOptions> = {
  history: kinds.object,
  askId: kinds.text,
  signal: kinds.signal,
  metadata: kinds.object,
};

const historyKinds: OptionKinds<GivenHistory> = {
  exchanges: kinds.needed(kinds.list),
  as: kinds.needed(kinds.oneOf("override", "useIfProvided", "replaceSession")),
};

/** A running call in this process. */
class Call implements WaitingCall {
  readonly #session: SharedSession;
  readonly #outer: Run | null;
  readonly #threadId: string | null;
  readonly #askId: string;
  readonly #inputs: Promise<Fields>;
  readonly #options: CallOptions;
  readonly #parts = new PartBuffer<CallPart>();
  readonly #stopped = new AbortController();
  #ask: AskHandle | null = null;
  /** The program's parts until the turn shows a part after `turn.started`; they wait for that part. Then null. */
  #early: CallPart[] | null = [];
  #own: { readonly error: unknown } | null = null;
  #after: Promise<void> = Promise.resolve();

  constructor(
    session: SharedSession,
    outer: Run | null,
    threadId: string | null,
    inputs: object,
    options: CallOptions,
  ) {
    this.#session = session;
    this.#outer = outer;
    this.#threadId = threadId;
    this.#options = options;
    this.#askId = options.askId ?? outer?.idOf(session.name, inputs) ?? randomIds.draw("ask");
    // Copied at once, so that later changes by the caller have no effect.
    this.#inputs = validated(`the inputs of "${session.name}"`, session.options.signature?.inputs, inputs);
    outer?.onCancel((reason) => this.#abort(reason));
  }

  /** Returns the handle of the call for its caller. */
  handle(result: Promise<object>): CallHandle<object> {
    // The parts of an ask end with its own last part.
    const settled = (error: unknown): void => {
      if (this.#ask === null) this.#parts.end(error);
    };
    result.then(() => settled(null), settled);
    const abort = (reason?: string): void => this.#abort(reason);
    return pendingCall(result, this.#parts, { threadId: this.#threadId, askId: this.#askId, abort });
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

  /** Asks on a thread, in the order of the calls. */
  async onThread(place: ThreadPlace, history: Given | null): Promise<object> {
    const { runtime, thread } = place;
    const over = this.#session.waiting.add(thread.id, this.#askId, this);
    try {
      const inputs = await this.#inputs;
      // Wrapped, because awaiting the handle itself gives its result.
      const { ask } = await runtime.lanes.run(thread.id, async () => {
        await this.#session.ready(place);
        return this.#asked(place, inputs, history);
      });
      return await this.#resultOf(ask);
    } finally {
      over();
    }
  }

  /** Runs the program without a turn. */
  async apart({ threadId, runtime }: Where, memory: Memory): Promise<object> {
    const outer = this.#outer;
    this.#early = null;
    const inputs = await this.#inputs;
    const over = new AbortController();
    const cancelled = this.#cancelled(outer?.signal, over.signal);
    // A separate key, even if the caller's id is the number of a turn, or is used on another thread.
    const key = `${outer?.key ?? threadId}/apart:${pathSegment(this.#askId)}`;
    const run = new Run({
      key: outer !== null && this.#options.askId === undefined ? this.#askId : key,
      turn: outer?.turn ?? null,
      path: outer === null ? [] : [...outer.path, this.#session.name],
      ancestors: outer?.ancestors ?? [],
      memory,
      runtime: outer === null ? runtime : this.#session.runtime(outer.runtime),
      signal: cancelled.signal,
      show: (part) => this.show(part),
      isWithin: (session) => session === this.#session || this.isWithin(session),
    });
    try {
      const outputs = runProgram(this.#session, run, inputs, { threadId: null, turn: null });
      return structuredClone(await Promise.race([outputs, cancelled.promise]));
    } finally {
      over.abort();
      outer?.used(run.usage);
      outer?.toolUse.push(...run.toolUse);
    }
  }

  async #asked(
    { runtime, thread }: ThreadPlace,
    inputs: Fields,
    history: Given | null,
  ): Promise<{ readonly ask: AskHandle }> {
    const anew = history?.as === "replaceSession";
    if (anew) await runtime.settled(thread.id);
    const replaced = anew ? ((await thread.state())?.context.conversation.head ?? 0) : null;
    const ask = thread.ask(partsOf(inputs), {
      askId: this.#askId,
      signal: AbortSignal.any(this.#signals()),
      // In one entry with the ask, so that after a crash either the conversation is unchanged or the call is running.
      ...(replaced === null ? {} : { from: 0 }),
      metadata: withMarks(this.#options.metadata, this.#marks(history, replaced)),
    });
    this.#ask = ask;
    void this.#parts.endWith(ask, (part) => {
      if (part.type !== "turn.started") {
        for (const early of this.#early ?? []) this.#push(early);
        this.#early = null;
      }
      this.#push(part);
    });
    runtime.track(thread.id, ask);
    // Later calls wait, because the conversation returns to its old head if this call fails.
    if (anew) await runtime.settled(thread.id);
    return { ask };
  }

  #marks(history: Given | null, replaced: number | null): Marks {
    const outer = this.#outer;
    // The thread's metadata already contain the parent's creation time.
    const { parentCreatedAt: _, ...link } = outer?.linkOf(this.#session.name) ?? {};
    const given = history?.exchanges ?? [];
    const most = mostShown(this.#session.options);
    return {
      askId: this.#askId,
      ...(Number.isFinite(most) ? { most } : {}),
      ...(history === null ? {} : { history: replaced === null ? { instead: given } : { before: given } }),
      ...(replaced === null ? {} : { replaced }),
      ...(outer === null ? {} : { ...link, ancestors: outer.ancestors }),
    };
  }

  async #resultOf(ask: AskHandle): Promise<object> {
    try {
      const answered = await ask;
      this.#outer?.used(answered.usage);
      await this.#after;
      return structuredClone(fieldsOf(answered.messages.findLast(({ role }) => role === "assistant")));
    } catch (thrown) {
      if (thrown instanceof TurnError) this.#outer?.used(thrown.summary.usage);
      await this.#after;
      throw thrown instanceof TurnFailedError && this.#own !== null ? this.#own.error : thrown;
    }
  }

  #push(part: CallPart): void {
    this.#parts.push(part);
    this.#outer?.show({ type: "nested", name: this.#session.name, threadId: this.#threadId, part });
  }

  #abort(reason?: string): void {
    if (this.#ask === null) this.#stopped.abort(reason);
    else this.#ask.abort(reason);
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
    const follow = (signal: AbortSignal, reason: () => unknown): void => {
      const end = (): void => {
        stop.abort(reason());
        reject(stop.signal.reason);
      };
      if (signal.aborted) end();
      else signal.addEventListener("abort", end, { signal: over });
    };
    for (const signal of this.#signals()) follow(signal, () => cancellation(signal.reason));
    if (outer !== undefined) follow(outer, () => outer.reason);
    return { signal: stop.signal, promise };
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
