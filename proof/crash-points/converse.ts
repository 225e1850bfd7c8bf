import type { Clock, LlmHandler, Store, Tool } from "@colloquy/host";
import { approvalsOf, type Entry, outstanding, type RequestApproval, type State } from "@colloquy/machine";

import { entriesIn } from "../kit/journal.ts";
import { lines, modelIn, threadId, toolsIn } from "./conversation.ts";
import { doomedClock, doomedStore } from "./doomed.ts";
import { Fuse, type Point } from "./fuse.ts";
import { Pace } from "./pace.ts";

/** What a process is made of that may die. */
export interface LifeParts {
  readonly store: Store;
  readonly llm: LlmHandler;
  readonly tools: readonly Tool[];
  readonly clock: Clock;
  readonly pace: Pace;
}

/** A process that keeps the thread. */
export interface Life {
  /** Asks by the id of an ask, whose text is its id; gives the answer of its turn. */
  ask(askId: string): Promise<string>;
  state(): Promise<State | null>;
  approve(request: RequestApproval, approved: boolean): Promise<void>;
  close(): Promise<void>;
}

/** In which store a conversation takes place, who holds it, and where its processes die. */
export interface ConverseOptions {
  readonly begin: (parts: LifeParts) => Life;
  /** Its time is the clock's. */
  readonly openStore: (pace: Pace) => Promise<Store>;
  /** The number of the point at which the process dies, from 1; null for never. */
  readonly diesAt: number | null;
  /** As above, of the process after it. Default null. */
  readonly diesAgainAt?: number | null;
  /** Whether the person who is asked lets a tool of unknown outcome run again. */
  readonly runAgain: boolean;
}

/** The outcome of a conversation that continued to its end. */
export interface Conversed {
  readonly journal: readonly Entry[];
  /** The journal as each crash left it. */
  readonly left: readonly (readonly Entry[])[];
  /** The points that the first process passed; the last one is where it died, if it did. */
  readonly points: readonly Point[];
  /** Each run of a tool, by its idempotency key, in order. */
  readonly ran: readonly { readonly name: string; readonly key: string }[];
  /** All entries that the store acknowledged to a host. */
  readonly acknowledged: readonly Entry[];
  /** What each ask was answered, by its id. */
  readonly answers: ReadonlyMap<string, string>;
}

/** Holds the conversation: when a process dies, another one continues. */
export const converse = async (options: ConverseOptions): Promise<Conversed> => {
  const pace = new Pace();
  const store = await options.openStore(pace);
  try {
    return await pace.run(new Conversing(pace, store, options).converse());
  } finally {
    await store.close();
  }
};

class Conversing {
  readonly #pace: Pace;
  readonly #store: Store;
  readonly #options: ConverseOptions;
  readonly #ran: { readonly name: string; readonly key: string }[] = [];
  readonly #acknowledged: Entry[] = [];
  readonly #answers = new Map<string, string>();
  readonly #left: (readonly Entry[])[] = [];

  constructor(pace: Pace, store: Store, options: ConverseOptions) {
    this.#pace = pace;
    this.#store = store;
    this.#options = options;
  }

  async converse(): Promise<Conversed> {
    const first = new Fuse(this.#options.diesAt);
    const lives = [first, new Fuse(this.#options.diesAgainAt ?? null), new Fuse(null)];
    for (const fuse of lives) {
      await Promise.race([this.#live(fuse), fuse.died]);
      if (fuse.alive) break;
      this.#left.push(await this.#journal());
    }
    return {
      journal: await this.#journal(),
      left: this.#left,
      points: first.points,
      ran: this.#ran,
      acknowledged: this.#acknowledged,
      answers: this.#answers,
    };
  }

  /** One process: asks what has no answer yet, and approves what has to be approved. */
  async #live(fuse: Fuse): Promise<void> {
    const pace = this.#pace;
    const life = this.#options.begin({
      store: doomedStore(this.#store, pace, fuse, (entries) => this.#acknowledged.push(...entries)),
      llm: modelIn(pace, fuse),
      tools: toolsIn(pace, fuse, (name, key) => this.#ran.push({ name, key })),
      clock: doomedClock(pace, fuse),
      pace,
    });
    const over = this.#approve(life, fuse);
    const first = lines.findIndex((asks) => asks.some((askId) => !this.#answers.has(askId)));
    // A host opens a thread when it is used: the process that continues repeats the last ask that was answered.
    const from = Math.max(0, (first < 0 ? lines.length : first) - 1);
    for (const asks of lines.slice(from)) {
      await Promise.all(asks.map((askId) => this.#ask(life, askId)));
      await this.#summariesWritten(life);
    }
    over.now = true;
    await life.close();
  }

  async #ask(life: Life, askId: string): Promise<void> {
    const text = await life.ask(askId);
    const before = this.#answers.get(askId);
    if (before !== undefined && before !== text) throw new Error(`"${askId}" was answered again`);
    this.#answers.set(askId, text);
  }

  /** Waits for summaries. A process that does not wait may be faster or slower than a summary; its answers are the same. */
  async #summariesWritten(life: Life): Promise<void> {
    while ((await life.state())?.context.summarising !== null) await this.#pace.sleep(5);
  }

  /**
   * A person looks now and then what there is to approve. The person waits until nothing else continues, so that answers
   * come in one order.
   */
  #approve(life: Life, fuse: Fuse): { now: boolean } {
    const over = { now: false };
    const look = async (): Promise<void> => {
      await this.#pace.sleep(10);
      if (over.now || !fuse.alive) return;
      const state = await life.state();
      const isQuiet =
        state !== null && outstanding(state).every(({ type }) => type !== "callLlm" && type !== "callTool");
      const [first] = isQuiet ? approvalsOf(state) : [];
      if (first !== undefined) await life.approve(first, first.because === "declared" || this.#options.runAgain);
      await look();
    };
    void look();
    return over;
  }

  async #journal(): Promise<readonly Entry[]> {
    return entriesIn(await this.#pace.outside(() => this.#store.read(threadId)));
  }
}
