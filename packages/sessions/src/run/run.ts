import { AsyncLocalStorage } from "node:async_hooks";
import { digestOf, type Json, type Usage, usageMonoid } from "@colloquy/machine";
import { NotPlain, plainCopy } from "@colloquy/machine/hosting";
import { type Memory, toolUseOf } from "../program/memory.ts";
import type { CallPart, NestedAskOptions } from "../program/program.ts";
import type { SessionRuntime } from "../threads/session-runtime.ts";
import {
  type AskHandle,
  type AskInput,
  type AskPart,
  type AskResult,
  type OutputOf,
  type OutputSchema,
  TurnError,
  type WrittenOf,
} from "@colloquy/host";
import { refuseEarlierParent } from "../threads/shared-session.ts";
import { PartBuffer, pendingCall } from "./pending-call.ts";

/** A run of a program, for the calls within it. */
export class Run {
  /** The name of the run; the same when it is repeated after a crash. */
  readonly key: string;
  /** The turn from which nested threads hang; null if the run belongs to no turn. */
  readonly turn: { readonly threadId: string; readonly createdAt: number; readonly number: number } | null;
  /** The names of the runs without a turn between that turn and this one. */
  readonly path: readonly string[];
  /** The threads whose programs wait for this run, outermost first, its own last. */
  readonly ancestors: readonly string[];
  readonly memory: Memory;
  readonly runtime: SessionRuntime;
  /** Aborted with a separate kind of error if the run only stops here and continues elsewhere. */
  readonly signal: AbortSignal;
  /** Shows a part to the readers of the call. */
  readonly show: (part: CallPart) => void;
  /** Returns whether this is a run of that session, or one of its runs waits for this run. */
  readonly isWithin: (session: object) => boolean;
  /** The work to do when the run ends successfully, by thread. */
  readonly atEnd: Map<string, () => Promise<void>> = new Map<string, () => Promise<void>>();
  /** The tools that its model calls used, in the order of the calls. */
  readonly toolUse: (string | null)[] = [];
  usage: Usage = usageMonoid.empty;
  #isOver = false;
  readonly #ordinals = new Map<string, number>();

  constructor(of: RunOptions) {
    this.key = of.key;
    this.turn = of.turn;
    this.path = of.path;
    this.ancestors = of.ancestors;
    this.memory = of.memory;
    this.runtime = of.runtime;
    this.signal = of.signal;
    this.show = of.show;
    this.isWithin = of.isWithin;
  }

  /** Returns the run of the code that is executing, also across awaits; null if there is none or it is over. */
  static here(): Run | null {
    const run = executing.getStore();
    // Later calls, such as from a timer that the run left, belong to no run.
    return run === undefined || run.#isOver ? null : run;
  }

  /** Executes the code of the run. */
  async execute<Result>(code: () => Result | PromiseLike<Result>): Promise<Awaited<Result>> {
    try {
      return await executing.run(this, code);
    } finally {
      this.#isOver = true;
    }
  }

  used(usage: Usage): void {
    this.usage = usageMonoid.concat(this.usage, usage);
  }

  /** Returns the id of a nested call, from its name, its input, and the number of equal calls before it. */
  idOf(name: string, input: unknown): string {
    const copy = plainCopy(input);
    // The callee refuses a value that JSON cannot express. A plain copy is JSON.
    const digest = copy instanceof NotPlain ? "" : digestOf(copy as Json);
    const call = `${this.key}/${name}.${digest}`;
    const ordinal = (this.#ordinals.get(call) ?? 0) + 1;
    this.#ordinals.set(call, ordinal);
    return `${call}.${ordinal}`;
  }

  /** Returns the metadata that link a nested thread to its parent. */
  linkOf(name: string): ParentLink {
    const node = [...this.path, name].join("/");
    if (this.turn === null) return { node };
    const { threadId, createdAt, number } = this.turn;
    return { parentThread: threadId, parentCreatedAt: createdAt, parentTurn: number, node };
  }

  /**
   * Calls `abort` when the run is cancelled. If the run only stops here to continue elsewhere, its nested calls
   * continue too.
   */
  onCancel(abort: (reason: string) => void): void {
    const { signal } = this;
    const cancelled = (): void => {
      if (signal.reason instanceof DOMException) abort("the call around it was cancelled");
    };
    if (signal.aborted) cancelled();
    else signal.addEventListener("abort", cancelled);
  }
}

/**
 * The link of a nested thread to its parent turn. The creation time distinguishes the parent from a later thread with
 * the same id.
 */
type ParentLink = {
  readonly parentThread?: string;
  readonly parentCreatedAt?: number;
  readonly parentTurn?: number;
  readonly node: string;
};

type RunOptions = Pick<
  Run,
  "key" | "turn" | "path" | "ancestors" | "memory" | "runtime" | "signal" | "show" | "isWithin"
>;

const executing = new AsyncLocalStorage<Run>();

/** Calls a model for a run, on a separate thread. */
export const nestedAsk = <Schema extends OutputSchema = never>(
  run: Run,
  name: string,
  input: AskInput,
  options: NestedAskOptions<Schema> = {},
): AskHandle<OutputOf<Schema>, WrittenOf<Schema>> => {
  const { system, seed, tools, metadata, ...rest } = options;
  const host = run.runtime.models(tools);
  const copy = plainCopy(input);
  // The host refuses an input that has no plain copy, with its own error.
  const given = copy instanceof NotPlain ? input : (copy as AskInput);
  const id = run.idOf(name, { input: given, system, seed, model: rest.model });
  const thread = host.thread(id);
  const place = run.toolUse.push(null) - 1;
  const beginning = {
    metadata: { ...run.linkOf(name), ...(metadata === undefined ? {} : { ask: metadata }) },
    ...(system === undefined ? {} : { system }),
    ...(seed === undefined ? {} : { seed }),
  };
  const parts = new PartBuffer<AskPart<WrittenOf<Schema>>>();
  let cursor = (): string | null => null;
  // Wrapped, because awaiting the handle itself gives its result.
  const begin = async (): Promise<{ readonly asked: AskHandle<OutputOf<Schema>, WrittenOf<Schema>> }> => {
    if (!(await run.runtime.begin(thread, beginning)))
      refuseEarlierParent(await thread.state(), run.turn?.createdAt ?? null);
    const asked = thread.ask(given, { ...rest, askId: id });
    cursor = () => asked.cursor;
    run.onCancel((reason) => asked.abort(reason));
    void parts.endWith(asked, (part) => {
      parts.push(part);
      run.show({ type: "nested", name, threadId: id, part });
    });
    return { asked };
  };
  const begun = begin();
  begun.catch((error: unknown) => parts.end(error));
  const result = async (): Promise<AskResult<OutputOf<Schema>>> => {
    const { asked } = await begun;
    try {
      const answered = await asked;
      run.used(answered.usage);
      run.toolUse[place] = toolUseOf(answered.messages);
      return answered;
    } catch (thrown) {
      if (thrown instanceof TurnError) run.used(thrown.summary.usage);
      throw thrown;
    }
  };
  const abort = (reason?: string): void => void begun.then(({ asked }) => asked.abort(reason)).catch(() => {});
  return pendingCall(result(), parts, { threadId: id, askId: id, abort }, () => cursor());
};
