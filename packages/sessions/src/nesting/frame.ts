import { AsyncLocalStorage } from "node:async_hooks";
import { digestOf, type Json, type Usage, usageMonoid } from "@colloquy/machine";
import { NotPlain, plainCopy } from "@colloquy/machine/hosting";
import type { Ground } from "../core/ground.ts";
import type { Memory } from "../program/memory.ts";
import type { CallPart } from "../program/parts.ts";

/** A run of a program, as what it calls sees it. */
export class Frame {
  /** Names the run: the same when it is made again after a crash. */
  readonly key: string;
  /** The turn from which nested threads hang; null where the run is part of none. */
  readonly turn: { readonly threadId: string; readonly createdAt: number; readonly number: number } | null;
  /** The names of the runs without a turn between that turn and this one. */
  readonly path: readonly string[];
  /** The threads whose programs wait for it, its own the last. */
  readonly ancestors: readonly string[];
  readonly memory: Memory;
  readonly ground: Ground;
  /** Aborted with an error of its own where the run is only stopped here, to go on elsewhere. */
  readonly signal: AbortSignal;
  /** Shows a part to whoever reads those of the call. */
  readonly show: (part: CallPart) => void;
  /** Whether it is a run of that session, or waited for by one. */
  readonly isWithin: (session: object) => boolean;
  /** What is done when it ends well, by thread. */
  readonly atEnd: Map<string, () => Promise<void>> = new Map<string, () => Promise<void>>();
  /** Tools that were used by the models that it called, in the order of the calls. */
  readonly toolUse: (string | null)[] = [];
  usage: Usage = usageMonoid.empty;
  /** What is called from here on, such as by a timer that it left behind, is called by nobody. */
  isOver = false;
  readonly #ordinals = new Map<string, number>();

  constructor(of: FrameOptions) {
    this.key = of.key;
    this.turn = of.turn;
    this.path = of.path;
    this.ancestors = of.ancestors;
    this.memory = of.memory;
    this.ground = of.ground;
    this.signal = of.signal;
    this.show = of.show;
    this.isWithin = of.isWithin;
  }

  used(usage: Usage): void {
    this.usage = usageMonoid.concat(this.usage, usage);
  }

  /** The id of a call within, by its name, what goes in, and how often the same was called before. */
  idOf(name: string, input: unknown): string {
    const copy = plainCopy(input);
    // What JSON has no word for is refused by whoever is called. A plain copy is JSON.
    const digest = copy instanceof NotPlain ? "" : digestOf(copy as Json);
    const call = `${this.key}/${name}.${digest}`;
    const ordinal = (this.#ordinals.get(call) ?? 0) + 1;
    this.#ordinals.set(call, ordinal);
    return `${call}.${ordinal}`;
  }

  /** What a nested thread says of where it hangs. */
  hanging(name: string): Hanging {
    const node = [...this.path, name].join("/");
    if (this.turn === null) return { node };
    const { threadId, createdAt, number } = this.turn;
    return { parentThread: threadId, parentCreatedAt: createdAt, parentTurn: number, node };
  }

  /** Aborts something when the run is cancelled; when it is stopped to go on elsewhere, what it called goes on, too. */
  onCancel(abort: () => void): void {
    const { signal } = this;
    const cancelled = (): void => {
      if (signal.reason instanceof DOMException) abort();
    };
    if (signal.aborted) cancelled();
    else signal.addEventListener("abort", cancelled, { once: true });
  }
}

/** Where a nested thread hangs: from a turn of a thread, which is known by its beginning from one of the same id. */
type Hanging = {
  readonly parentThread?: string;
  readonly parentCreatedAt?: number;
  readonly parentTurn?: number;
  readonly node: string;
};

type FrameOptions = Pick<
  Frame,
  "key" | "turn" | "path" | "ancestors" | "memory" | "ground" | "signal" | "show" | "isWithin"
>;

/** Which run the code belongs to that is being executed, across whatever it awaits; null for none that is still going on. */
export const frameHere = (): Frame | null => {
  const frame = running.getStore();
  return frame === undefined || frame.isOver ? null : frame;
};

/** Executes the code of a run. */
export const runIn = async <Result>(
  frame: Frame,
  run: () => Result | PromiseLike<Result>,
): Promise<Awaited<Result>> => {
  try {
    return await running.run(frame, run);
  } finally {
    frame.isOver = true;
  }
};

const running = new AsyncLocalStorage<Frame>();
