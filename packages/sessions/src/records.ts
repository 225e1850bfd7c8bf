import { type HostedThread, JournalUnreadableError } from "@colloquy/host";
import { checkOptions, checkValue, kinds, type OptionKinds } from "@colloquy/host/store";
import * as Either from "fp-ts/lib/Either.js";
import { type SavedSession, savedSession } from "./saved/saved-session.ts";
import { mostShown, policyOf } from "./threads/options.ts";
import type { SharedSession } from "./threads/shared-session.ts";
import { type ExampleOptions, type Examples, examplesOf, mergeExamples } from "./turns/examples.ts";
import { promptsIn, type TurnPrompt, type TurnPrompts } from "./turns/prompts.ts";
import {
  type Metric,
  noteScores,
  type ScoreOptions,
  scoresOf,
  type SessionTurn,
  sessionTurns,
  turnsInView,
} from "./turns/turns.ts";

/** The functions on the recorded turns of a session. */
export interface Records<Inputs extends object, Result extends object> {
  /**
   * Scores each turn, and stores its score as an annotation of the turn. Returns the scores in the order of the turns.
   * No score is stored before all are known.
   */
  score<Gold>(
    metric: Metric<SessionTurn<Inputs, Result>, Gold | undefined>,
    options?: ScoreOptions<Gold>,
  ): Promise<readonly number[]>;
  /**
   * Returns the turns as training examples, oldest first, and the turns that are left out, with the reason.
   *
   * @param options with a `metric`, the turns are scored first.
   */
  examples<Gold>(options?: RecordedExampleOptions<Inputs, Result, Gold>): Promise<Examples<Inputs, Result>>;
  /**
   * Returns the exact prompt of a turn's program call, whatever happened to the thread since; only redacted content is
   * missing. For a turn that was added by hand, returns the prompt of a call at that point, under the present options.
   * Null if the turn ended before its program was called.
   *
   * @throws RangeError if the turn does not exist.
   */
  promptOfTurn(turn: number): Promise<TurnPrompt | null>;
  /** Returns the whole thread as plain JSON, for `load`. */
  save(): Promise<SavedSession>;
}

export interface RecordedExampleOptions<Inputs extends object, Result extends object, Gold = unknown>
  extends ExampleOptions, ScoreOptions<Gold> {
  readonly metric?: Metric<SessionTurn<Inputs, Result>, Gold | undefined>;
}

/** The records of a session on a thread, untyped. */
export class ThreadRecords implements Records<object, object> {
  readonly thread: HostedThread;
  readonly #session: SharedSession;

  constructor(session: SharedSession, thread: HostedThread) {
    this.#session = session;
    this.thread = thread;
  }

  async score<Gold>(
    metric: Metric<SessionTurn, Gold | undefined>,
    options: ScoreOptions<Gold> = {},
  ): Promise<readonly number[]> {
    checkValue("score: the metric", metric, kinds.call);
    checkOptions<object>("score", options, scoreKinds);
    return this.#score(metric, options);
  }

  async examples<Gold>(options: RecordedExampleOptions<object, object, Gold> = {}): Promise<Examples> {
    checkOptions<object>("examples", options, exampleKinds);
    const { metric } = options;
    if (metric !== undefined) await this.#score(metric, options);
    if ((await this.thread.state()) === null) return mergeExamples();
    const prompts = await this.#prompts();
    const turns = turnsInView(prompts.state, this.#session.options.maxStoredTurns);
    return examplesOf(this.thread.id, turns, prompts, options);
  }

  async promptOfTurn(turn: number): Promise<TurnPrompt | null> {
    const { state, of } = await this.#prompts();
    const { length } = state.context.conversation.turns;
    const prompt = of(turn);
    if (prompt !== null || (Number.isSafeInteger(turn) && turn > 0 && turn <= length)) return prompt;
    const there = length === 0 ? "none" : `1 to ${length}`;
    throw new RangeError(`thread "${this.thread.id}" has no turn ${turn}; there are ${there}`);
  }

  async save(): Promise<SavedSession> {
    return savedSession(await this.thread.exportJournal());
  }

  async #score<Gold>(
    metric: Metric<SessionTurn, Gold | undefined>,
    options: ScoreOptions<Gold>,
  ): Promise<readonly number[]> {
    const turns = sessionTurns(await this.thread.state(), this.#session.options.maxStoredTurns);
    const scores = await scoresOf(turns, metric, options, (error, turn) =>
      this.#session.report(error, `the metric, for turn ${turn}`),
    );
    await noteScores(this.thread, turns, scores);
    return scores;
  }

  async #prompts(): Promise<TurnPrompts> {
    const { options } = this.#session;
    const read = promptsIn(await this.thread.exportJournal(), policyOf(options), mostShown(options));
    if (Either.isRight(read)) return read.right;
    throw new JournalUnreadableError(this.thread.id, `entry ${read.left.seq}: ${read.left.reason}`);
  }
}

const scoreKinds: OptionKinds<ScoreOptions> = { gold: kinds.anything, onMetricError: kinds.oneOf("zero", "raise") };

const exampleKinds: OptionKinds<RecordedExampleOptions<object, object>> = {
  ...scoreKinds,
  metric: kinds.call,
  minScore: kinds.number,
  strict: kinds.flag,
  includeHistory: kinds.flag,
};
