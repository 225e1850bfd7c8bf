import { type HostedThread, JournalUnreadableError } from "@colloquy/host";
import { checkOptions, checkValue, kinds, type OptionKinds } from "@colloquy/host/store";
import * as Either from "fp-ts/lib/Either.js";
import type { SessionCore } from "./core/core.ts";
import { mostShown, policyOf } from "./core/policy.ts";
import { memoryOf } from "./program/memory.ts";
import { type SavedSession, savedSession } from "./saved/saved-session.ts";
import { type ExampleOptions, type Examples, examplesOf } from "./score/examples.ts";
import { type Metric, noteScores, type ScoreOptions, scoresOf } from "./score/score.ts";
import { type Shown, shownIn, type ShownTurns } from "./shown/shown-in.ts";
import { promptShown, type TurnPrompt } from "./shown/turn-prompt.ts";
import { sessionTurns, turnsInView } from "./thread/turns.ts";

/** The functions on the recorded turns of a session. */
export interface Records<Inputs extends object, Result extends object> {
  /**
   * Scores each turn, and stores its score as an annotation of the turn. Returns the scores in the order of the turns.
   * No score is stored before all are known.
   */
  score<Gold>(metric: Metric<Inputs, Result, Gold>, options?: ScoreOptions<Gold>): Promise<readonly number[]>;
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

/** The options for examples from recorded turns. */
export interface RecordedExampleOptions<Inputs extends object, Result extends object, Gold = unknown>
  extends ExampleOptions, ScoreOptions<Gold> {
  readonly metric?: Metric<Inputs, Result, Gold>;
}

/** Makes the records of a thread. */
export const recordsOf = (core: SessionCore, thread: HostedThread): Records<object, object> => ({
  score: async (metric, options = {}) => {
    checkValue("score: the metric", metric, kinds.call);
    checkOptions<object>("score", options, scoreKinds);
    return score(core, thread, metric, options);
  },
  examples: async (options = {}) => {
    checkOptions<object>("examples", options, exampleKinds);
    return examples(core, thread, options);
  },
  promptOfTurn: async (turn) => {
    const { state, shown } = await journalled(thread);
    const found = shown.get(turn);
    if (found !== undefined) return shownBy(core, found);
    const { length } = state.context.conversation.turns;
    if (Number.isSafeInteger(turn) && turn > 0 && turn <= length) return null;
    const there = length === 0 ? "none" : `1 to ${length}`;
    throw new RangeError(`thread "${thread.id}" has no turn ${turn}; there are ${there}`);
  },
  save: async () => savedSession(await thread.exportJournal()),
});

const score = async <Gold>(
  core: SessionCore,
  thread: HostedThread,
  metric: Metric<object, object, Gold>,
  options: ScoreOptions<Gold>,
): Promise<readonly number[]> => {
  const turns = sessionTurns(await thread.state(), core.options.maxStoredTurns);
  const scores = await scoresOf(turns, metric, options, (error, turn) =>
    core.report(error, `the metric, for turn ${turn}`),
  );
  await noteScores(thread, turns, scores);
  return scores;
};

const examples = async <Gold>(
  core: SessionCore,
  thread: HostedThread,
  options: RecordedExampleOptions<object, object, Gold>,
): Promise<Examples> => {
  const { metric } = options;
  if (metric !== undefined) await score(core, thread, metric, options);
  if ((await thread.state()) === null) return examplesOf(thread.id, [], options);
  const { state, shown, isRedacted } = await journalled(thread);
  const sources = turnsInView(state, core.options.maxStoredTurns).map((turn) => ({
    turn,
    isRedacted: isRedacted(turn),
    memory: () => {
      const found = shown.get(turn.number);
      return found === undefined ? memoryOf([]) : shownBy(core, found).memory;
    },
  }));
  return examplesOf(thread.id, sources, options);
};

const shownBy = ({ options }: SessionCore, shown: Shown): TurnPrompt =>
  promptShown(shown, policyOf(options), mostShown(options));

const journalled = async (thread: HostedThread): Promise<ShownTurns> => {
  const read = shownIn(await thread.exportJournal());
  if (Either.isRight(read)) return read.right;
  throw new JournalUnreadableError(thread.id, `entry ${read.left.seq}: ${read.left.reason}`);
};

const scoreKinds: OptionKinds<ScoreOptions> = { gold: kinds.anything, onMetricError: kinds.oneOf("zero", "raise") };

const exampleKinds: OptionKinds<RecordedExampleOptions<object, object>> = {
  ...scoreKinds,
  metric: kinds.call,
  minScore: kinds.number,
  strict: kinds.flag,
  includeHistory: kinds.flag,
};
