import { canonicalText, ConfigurationError } from "@colloquy/machine";
import { checkOptions, kinds, messageOf, type OptionKinds } from "@colloquy/host/store";
import type { NamedJournal } from "@colloquy/machine/inspect";
import { type RunTurn, runConversation } from "./conversation.ts";
import type { Metric, RerunOptions } from "./options.ts";
import type { RerunConversation, RerunReport, RerunSide, RerunTurn } from "./report.ts";
import { figuresOf, sideOf } from "./side.ts";

/**
 * Asks the questions of recorded conversations again, of another model, under another system prompt or policy, and puts
 * what comes beside what was recorded. Nothing is run but the model: a tool call is answered with the result that the
 * recording has of the same call (the same arguments, in this turn or else an earlier one); a call that it has no result of ends the
 * turn, in words. Turns off the path are not asked.
 *
 * A conversation that can't be asked, or not to its end, says why, and stops no other.
 *
 * @throws ConfigurationError (as the rejection) for an option that there is not or that is missing, a `concurrency` that is no whole number
 * from 1, and invalid machine options.
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

const comparedTurn = async ({ recorded, after }: RunTurn, metric: Metric | undefined): Promise<RerunTurn> => {
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

/** A metric may be written in JavaScript. @throws TypeError for what is no score */
const scoreIn = (judged: unknown): number | null => {
  if (typeof judged === "boolean") return Number(judged);
  if (judged === null || (typeof judged === "number" && Number.isFinite(judged))) return judged;
  const given = typeof judged === "number" ? String(judged) : `a value of type ${typeof judged}`;
  throw new TypeError(`it gave ${given}; a score is a finite number, true, false or null`);
};

/** A copy: a metric may sort what it is given. */
const saidIn = ({ answer, tools }: RerunSide) => ({ answer, tools: tools.map((call) => ({ ...call })) });
