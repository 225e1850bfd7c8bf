import { canonicalText, ConfigurationError } from "@colloquy/machine";
import { checkOptions, kinds, messageOf, type OptionKinds } from "@colloquy/host/store";
import type { NamedJournal } from "@colloquy/machine/inspect";
import { type RunTurn, runConversation } from "./conversation.ts";
import { numberIn } from "../../turns/turns.ts";
import {
  type RerunOptions,
  type RerunConversation,
  type RerunReport,
  type RerunSide,
  type RerunTurn,
  figuresOf,
  sideOf,
} from "./report.ts";

/**
 * Asks the questions of recorded conversations again, with another model, system prompt or policy, and compares the
 * answers with the recorded ones. Only the model runs. A tool call gets the recorded result of the same call (the same
 * arguments, in this turn or else an earlier one). A call without a recorded result ends the turn with a description.
 * Turns off the path are not asked.
 *
 * A conversation that cannot be asked, or not to its end, reports the reason, and does not stop the others.
 *
 * @throws ConfigurationError (as the rejection) for an unknown or missing option, a `concurrency` that is not a whole
 * number from 1, and invalid machine options.
 */
export const rerun = async (recordings: readonly NamedJournal[], options: RerunOptions): Promise<RerunReport> => {
  checkOptions("rerun", options, optionKinds);
  const { concurrency = 4 } = options;
  const conversations: RerunConversation[] = [];
  const waiting = [...recordings.entries()];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      conversations[next[0]] = await rerunConversation(next[1], options);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, recordings.length) }, work));
  const turns = conversations.flatMap((conversation) => conversation.turns);
  return {
    conversations,
    before: figuresOf(turns.map(({ before }) => before)),
    after: figuresOf(turns.map(({ after }) => after)),
  };
};

const optionKinds: OptionKinds<RerunOptions> = {
  llm: kinds.needed(kinds.call),
  clock: kinds.needed(kinds.having("a clock, such as systemClock", "now", "wakeAt")),
  machine: kinds.object,
  system: kinds.of(
    "a text, content parts, or null for none",
    (value) => value === null || typeof value === "string" || kinds.object.fits(value),
  ),
  model: kinds.object,
  history: kinds.oneOf("recorded", "own"),
  metric: kinds.call,
  concurrency: kinds.whole(1),
  signal: kinds.signal,
};

const rerunConversation = async (recording: NamedJournal, options: RerunOptions): Promise<RerunConversation> => {
  const ran: RunTurn[] = [];
  let problem: string | null = null;
  try {
    await runConversation(recording, options, (turn) => ran.push(turn));
  } catch (thrown) {
    if (thrown instanceof ConfigurationError) throw thrown;
    problem = messageOf(thrown);
  }
  const turns = await Promise.all(ran.map((turn) => comparedTurn(turn, options.metric)));
  return { name: recording.name, problem, turns };
};

const comparedTurn = async ({ recorded, after }: RunTurn, metric: RerunOptions["metric"]): Promise<RerunTurn> => {
  const { turn, question } = recorded;
  const before = sideOf(turn);
  const scored = async (side: RerunSide): Promise<RerunSide> => {
    if (metric === undefined || side.status !== "completed") return side;
    try {
      const score = scoreIn(await metric({ question, ...saidIn(side) }, { question, ...saidIn(before) }));
      return { ...side, score };
    } catch (thrown) {
      return { ...side, metricFailed: messageOf(thrown) };
    }
  };
  const same = canonicalText(saidIn(before)) === canonicalText(saidIn(after));
  return { turn: turn.number, question, before: await scored(before), after: await scored(after), same };
};

/** Parses a score, since a metric may be written in JavaScript. @throws TypeError for a value that is not a score */
const scoreIn = (judged: unknown): number | null => {
  const score = judged === null ? null : numberIn(judged);
  if (score === null || typeof score === "number") return score;
  throw new TypeError(`it gave ${score.not}; a score is a finite number, true, false or null`);
};

/** Returns a copy, because a metric may sort its arguments. */
const saidIn = ({ answer, tools }: RerunSide) => ({ answer, tools: tools.map((call) => ({ ...call })) });
