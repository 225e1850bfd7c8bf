import { replay } from "@colloquy/machine/inspect";
import type { Entry, ToolDeclaration } from "@colloquy/machine";
import { lawRecovery, lawSharedThread } from "@colloquy/runtime-test/laws";
import * as Either from "fp-ts/lib/Either.js";

import { violationsOfLaw } from "../kit/calls.ts";
import { entriesIn, stateOf } from "../kit/journal.ts";
import { wordsOf } from "../kit/report.ts";
import { endProblems, messageProblems } from "../kit/scripted-conversation.ts";
import type { Answer } from "./converse.ts";
import type { Ran } from "./ledger.ts";
import type { Reference } from "./reference.ts";
import type { Asked, Script } from "./script.ts";

/** A conversation as an engine held it. */
export interface Held {
  readonly asks: readonly Asked[];
  /** The answers to askers, one for each time that an asker got one. */
  readonly answers: readonly Answer[];
  /** As the engine gives it. */
  readonly journal: readonly unknown[];
  /** The tools and model calls that ran, in any process. */
  readonly ran: readonly Ran[];
}

/** The verdict on a conversation. */
export interface Verdict {
  /** Empty when it is the reference, or differs from it as the table of recovery says. */
  readonly problems: readonly string[];
  readonly entries: number;
  /** How many of them are marked `recovered`. */
  readonly recovered: number;
}

/** Holds a conversation against the same one on the host in memory. */
export const judge = (held: Held, reference: Reference, { machine, tools }: Script): Verdict => {
  const none = { entries: 0, recovered: 0 };
  try {
    const journal = entriesIn(held.journal);
    const declared = tools.map(({ declaration }) => declaration);
    const replayed = replay(machine, journal);
    const problems = [
      ...(Either.isLeft(replayed) ? [`it replays otherwise: ${JSON.stringify(replayed.left)}`] : []),
      ...problemsOfJournal(journal, held, reference, declared),
      ...problemsOfAnswers(held, reference, declared),
    ];
    return { problems, entries: journal.length, recovered: journal.filter(isRecovered).length };
  } catch (error) {
    return { ...none, problems: [wordsOf(error)] };
  }
};

const problemsOfJournal = (
  journal: readonly Entry[],
  { asks, ran }: Held,
  reference: Reference,
  tools: readonly ToolDeclaration[],
): readonly string[] => {
  const [uncrashed, resumed] = [inOneOrder(reference.journal), inOneOrder(journal)];
  const state = stateOf(resumed);
  const [expected, shapes] = [uncrashed.map(shapeOf), resumed.map(shapeOf)];
  const other = shapes.findIndex((shape, seq) => shape !== expected[seq]);
  return [
    ...violationsOfLaw(() => lawRecovery({ uncrashed, resumed, tools, ran: ran.map(({ id }) => id) })),
    // After an entry that a recovery wrote, the conversation also continues as it would have, by this script.
    ...(other < 0 ? [] : [`entry ${other} is ${shapes[other]}, and should be ${expected[other] ?? "none"}`]),
    ...(shapes.length < expected.length ? [`entry ${shapes.length} is missing: ${expected[shapes.length]}`] : []),
    ...endProblems(
      state,
      asks.map(({ askId }) => askId),
    ),
    ...messageProblems(state, stateOf(uncrashed)),
  ];
};

const problemsOfAnswers = (
  { asks, answers, journal, ran }: Held,
  reference: Reference,
  tools: readonly ToolDeclaration[],
): readonly string[] => {
  const ofTools = ran.filter(({ what }) => what !== "model").map(({ id }) => id);
  const asked = asks.map(({ askId }) => askId);
  const isSame = (one: Answer, other: Answer): boolean =>
    one.askId === other.askId && one.turn === other.turn && one.text === other.text;
  return [
    ...violationsOfLaw(() => lawSharedThread({ asked, answered: answers, stored: journal, ran: ofTools, tools })),
    ...answers
      .filter((answer) => !reference.answers.some((expected) => isSame(answer, expected)))
      .map((answer) => `${answer.askId} was answered with ${JSON.stringify(answer)}`),
  ];
};

const isRecovered = (entry: Entry): boolean => "recovered" in entry;

/** Returns the subject of an entry, the same for each way in which a recovery may write it. */
const shapeOf = ({ event }: Entry): string => {
  const type = event.type === "tool.failed" || event.type === "tool.withheld" ? "tool.completed" : event.type;
  return "effectId" in event ? `${type} ${event.effectId}` : type;
};

/** The answers of tools that run at the same time, in the order of their calls: which of them comes first is nobody's choice. */
const inOneOrder = (journal: readonly Entry[]): readonly Entry[] => {
  const ordered = [...journal];
  for (let from = 0; from < ordered.length; from += 1) {
    let end = from;
    while (isAnswerOfTool(ordered[end])) end += 1;
    const answers = ordered.slice(from, end).sort((one, other) => (shapeOf(one) < shapeOf(other) ? -1 : 1));
    ordered.splice(from, answers.length, ...answers);
    from = Math.max(from, end);
  }
  // In another place it is the same entry: nothing was decided about it that hangs on the others.
  return ordered.map((entry, index) => ({ ...entry, seq: journal[index]?.seq ?? index }) as Entry);
};

const isAnswerOfTool = (entry: Entry | undefined): boolean =>
  entry?.event.type === "tool.completed" || entry?.event.type === "tool.failed";
