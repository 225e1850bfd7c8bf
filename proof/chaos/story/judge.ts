// The one judge: what was acknowledged is in the journal, the journal folds and replays, each ask has one outcome, what
// must not run twice ran once, what has to be approved was, and prompts are well-formed.
import {
  type AnswerableEffect,
  type ConversationMachine,
  type Entry,
  outstanding,
  type State,
  type ToolDeclaration,
  type Usage,
  usageMonoid,
  usageOfCall,
} from "@colloquy/machine";
import { replay } from "@colloquy/machine/inspect";
import { checkPrompt } from "@colloquy/machine/policies";
import { type ApprovalLogItem, lawApproved, lawRecovery, lawSharedThread } from "@colloquy/runtime-test/laws";
import * as Either from "fp-ts/lib/Either.js";

import { violationsOfLaw } from "../../kit/calls.ts";
import { entriesIn, statesOf } from "../../kit/journal.ts";
import { wordsOf } from "../../kit/report.ts";
import { endProblems, messageProblems } from "./ends.ts";
import type { Answer, Fact, Performed } from "./facts.ts";
import { recoveredAs, rowOf } from "./table.ts";
import { answerTo, type Asked, declarations, inputOf } from "./script.ts";
import { digestOfEntry } from "./watched.ts";

/** A conversation as it was held, after all of it ended. */
export interface Held {
  /** The journal, as the store has it. */
  readonly journal: readonly unknown[];
  /** The journal as each crash left it. */
  readonly left?: readonly (readonly Entry[])[];
  readonly asked: readonly Asked[];
  /** The asks whose askers were notified that no answer follows. */
  readonly unanswered?: readonly string[];
  /** Processes stood still past their leases: what they had begun may be begun by others. */
  readonly hasStalled?: boolean;
  /** All that processes reported, in order. */
  readonly facts: readonly Fact[];
  /** The machine, if it decides the same again; and a journal of the same conversation without a crash. */
  readonly machine?: ConversationMachine;
  readonly uncrashed?: Uncrashed;
}

export interface Uncrashed {
  readonly journal: readonly Entry[];
  readonly answers: readonly Answer[];
  /**
   * Whether the order of answers that come at the same time is fixed, so that the journals have the same entries; or it is
   * but for those of tools.
   */
  readonly isOrdered: boolean | "but for tools";
}

/** The conversation, as its journal and its facts have it. */
interface Facts {
  readonly entries: readonly Entry[];
  readonly states: readonly State[];
  readonly state: State;
  readonly performed: readonly Performed[];
  readonly answers: readonly Answer[];
}

/** Returns the problems of a conversation; empty when nothing is lost, repeated, or run without leave. */
export const judge = (held: Held): readonly string[] => {
  try {
    const entries = entriesIn(held.journal);
    const states = statesOf(entries);
    const state = states.at(-1);
    if (state === undefined) return ["there is no conversation"];
    const performed = held.facts.filter((fact) => fact.type === "performed");
    const answers = held.facts.filter((fact) => fact.type === "answered");
    const facts = { entries, states, state, performed, answers };
    return [
      ...keptProblems(entries, held),
      ...replayProblems(entries, held.machine),
      ...askProblems(held, facts),
      ...performedProblems(facts),
      ...promptProblems(held, facts),
      ...(held.hasStalled === true ? [] : approvalProblems(entries, performed)),
      ...tableProblems(entries, held.left ?? []),
      ...(held.uncrashed === undefined ? [] : uncrashedProblems(held, facts, held.uncrashed)),
    ];
  } catch (error) {
    return [wordsOf(error)];
  }
};

const isPlaced = (performed: Performed): performed is Performed & { readonly seq: number } =>
  performed.seq !== undefined;

/** The tools whose start is journalled before they run. */
const onceOnly: readonly string[] = declarations
  .filter(({ recovery }) => recovery === "once")
  .map(({ name }: ToolDeclaration) => name);

/** Lists each effect that was performed before a stored entry asked for it, and each tool of `once` that ran before its start was journalled. */
const performedProblems = ({ states, performed }: Facts): readonly string[] =>
  performed.filter(isPlaced).flatMap(({ id, seq }): readonly string[] => {
    const state = states[seq];
    const effect = (state === undefined ? [] : outstanding(state)).find((each) => each.id === id || keyOf(each) === id);
    if (effect === undefined)
      return [`${id} was performed when entry ${seq} was the newest, which does not ask for it`];
    return effect.type === "callTool" && onceOnly.includes(effect.name) && !effect.started
      ? [`${id} ran before its start was journalled`]
      : [];
  });

/** The idempotency key of a tool call. */
const keyOf = (effect: AnswerableEffect): string | null =>
  effect.type === "callTool" ? `${effect.threadId}/${effect.callId}#1` : null;

/** Whatever was acknowledged, and whatever a crash left, is in the journal. */
export const keptProblems = (
  entries: readonly Entry[],
  { facts, left = [] }: Pick<Held, "facts" | "left">,
): readonly string[] => {
  const digests = entries.map(digestOfEntry);
  return [
    ...facts.flatMap((fact) => {
      if (fact.type !== "acknowledged" || digests[fact.seq] === fact.digest) return [];
      return [`entry ${fact.seq} was acknowledged, and ${digests[fact.seq] === undefined ? "is lost" : "is another"}`];
    }),
    ...left
      .flat()
      .filter((entry) => digestOfEntry(entry) !== digests[entry.seq])
      .map(({ seq }) => `entry ${seq} was there after a crash, and is lost or another`),
  ];
};

const replayProblems = (entries: readonly Entry[], machine: ConversationMachine | undefined): readonly string[] => {
  const replayed = machine === undefined ? Either.right(null) : replay(machine, entries);
  return Either.isLeft(replayed) ? [`it replays otherwise: ${JSON.stringify(replayed.left)}`] : [];
};

/** Each ask was taken once and has one outcome, and its askers had that one. A call with a result was done, and done once if it must be. */
const askProblems = (
  { asked, unanswered = [], journal, facts }: Held,
  { answers, performed }: Facts,
): readonly string[] => {
  const ran = performed.filter(({ what }) => what !== "model").map(({ id }) => id);
  const done = new Set(facts.flatMap((fact) => (fact.type === "done" ? [fact.key] : [])));
  const inputs = new Map(asked.map(({ askId, input }) => [askId, input]));
  const awaited = asked.map(({ askId }) => askId).filter((askId) => !unanswered.includes(askId));
  return [
    ...violationsOfLaw(() =>
      lawSharedThread({
        asked: awaited,
        unanswered: [...new Set(unanswered)],
        answered: answers,
        stored: journal,
        ran,
        tools: declarations,
      }),
    ),
    // Not all processes note that a tool is done.
    ...completedIn(journal)
      .filter((key) => ran.includes(key) && done.size > 0 && !done.has(key))
      .map((key) => `${key} is said to be completed, and never changed the world`),
    ...answers
      .filter(({ askId, text }) => !text.includes(answerTo(inputs.get(askId) ?? "")))
      .map(({ askId, text }) => `${askId} was answered with ${JSON.stringify(text)}, which does not answer it`),
  ];
};

const completedIn = (journal: readonly unknown[]): readonly string[] =>
  entriesIn(journal).flatMap(({ event }) =>
    event.type === "tool.completed" ? [event.effectId.replace(/#\d+$/u, "#1")] : [],
  );

/** Prompts are well-formed, in the journal and as they were sent, and a call that is made again has the same one. */
const promptProblems = ({ facts }: Held, { performed, states }: Facts): readonly string[] => {
  const digests = new Map<string, string>();
  const out = states.flatMap((state) => outstanding(state));
  const calls = new Map(out.flatMap((effect) => (effect.type === "callLlm" ? [[effect.id, effect.messages]] : [])));
  return [
    ...[...calls].flatMap(([id, messages]) => {
      const problem = checkPrompt(messages);
      return problem === null ? [] : [`the prompt of ${id}, as it is journalled: ${problem.reason}`];
    }),
    ...facts.flatMap((fact) => (fact.type === "malformed" ? [`the prompt of ${fact.effectId}: ${fact.reason}`] : [])),
    ...performed.flatMap(({ id, promptDigest }): readonly string[] => {
      if (promptDigest === undefined) return [];
      const first = digests.get(id) ?? promptDigest;
      digests.set(id, first);
      return first === promptDigest ? [] : [`${id} was sent again with another prompt`];
    }),
  ];
};

/** Returns the calls that need an approval and ran without one, or more than once. */
const approvalProblems = (entries: readonly Entry[], performed: readonly Performed[]): readonly string[] => {
  const log: ApprovalLogItem[] = [];
  let known = 0;
  const store = (until: number): void => {
    for (const entry of entries.slice(known, until)) log.push({ did: "appended", entry });
    known = Math.max(known, until);
  };
  for (const { what, id, seq } of performed.filter(isPlaced)) {
    if (what === "model") continue;
    store(seq + 1);
    log.push({ did: "ran", key: id, input: inputOf(id) });
  }
  store(entries.length);
  return violationsOfLaw(() => lawApproved(log, declarations));
};

/** Returns the effects that a crash came upon and that were not answered as their row of the table says, or by another side. */
const tableProblems = (entries: readonly Entry[], left: Held["left"] & object): readonly string[] =>
  lastOut(left).flatMap((effect) => {
    const row = rowOf(effect);
    const answer = entries.find(({ event }) => isAnswerTo(event, effect.id));
    // A timer, or a summary, may be called off instead.
    if (answer === undefined)
      return row.name === "timer" || row.name === "summary" ? [] : [`${effect.id} (${row.name}) was never answered`];
    const is = recoveredAs(answer);
    return is === row.recovered
      ? []
      : [`${effect.id} (${row.name}) was answered by ${is ?? "itself"}, and should be by ${row.recovered ?? "itself"}`];
  });

/** The effects that were outstanding at crashes. One that was outstanding at two was answered after the second. */
export const lastOut = (left: readonly (readonly Entry[])[]): readonly AnswerableEffect[] => {
  const out = left.flatMap((entries) =>
    statesOf(entries)
      .slice(-1)
      .flatMap((state) => outstanding(state)),
  );
  return [...new Map(out.map((effect) => [effect.id, effect])).values()];
};

const isAnswerTo = (event: Entry["event"], effectId: string): boolean =>
  "effectId" in event &&
  event.effectId === effectId &&
  event.type !== "tool.started" &&
  event.type !== "llm.progressed";

/** Nothing is otherwise than without the crash but what the crash came upon. */
const uncrashedProblems = (
  { asked }: Held,
  { entries, state, performed, answers }: Facts,
  uncrashed: Uncrashed,
): readonly string[] => {
  const expected = statesOf(uncrashed.journal).at(-1);
  const ran = performed.map(({ id }) => id);
  const isLoose = uncrashed.isOrdered === "but for tools";
  const [other, resumed] = isLoose
    ? [inOneOrder(uncrashed.journal), inOneOrder(entries)]
    : [uncrashed.journal, entries];
  return [
    ...violationsOfLaw(() =>
      lawRecovery({ uncrashed: uncrashed.isOrdered === false ? entries : other, resumed, tools: declarations, ran }),
    ),
    ...(isLoose ? shapeProblems(resumed, other) : []),
    ...endProblems(
      state,
      asked.map(({ askId }) => askId),
    ),
    ...(expected === undefined ? ["there is nothing to compare it with"] : messageProblems(state, expected)),
    ...answers
      .filter((answer) => !uncrashed.answers.some((each) => isSameAnswer(each, answer)))
      .map(({ askId, turn, text }) => `${askId} was answered with ${JSON.stringify({ turn, text })}`),
    ...usageProblems(entries, state, uncrashed.journal),
  ];
};

const isSameAnswer = (one: Answer, other: Answer): boolean =>
  one.askId === other.askId && one.turn === other.turn && one.text === other.text;

/** After an entry that a recovery wrote, the conversation also continues as it would have. */
const shapeProblems = (resumed: readonly Entry[], uncrashed: readonly Entry[]): readonly string[] => {
  const [shapes, expected] = [resumed.map(shapeOf), uncrashed.map(shapeOf)];
  const other = shapes.findIndex((shape, seq) => shape !== expected[seq]);
  return [
    ...(other < 0 ? [] : [`entry ${other} is ${shapes[other]}, and should be ${expected[other] ?? "none"}`]),
    ...(shapes.length < expected.length ? [`entry ${shapes.length} is missing: ${expected[shapes.length]}`] : []),
  ];
};

/** Returns the subject of an entry, the same for each way in which a recovery may write it. */
const shapeOf = ({ event }: Entry): string => {
  const type = event.type === "tool.failed" || event.type === "tool.withheld" ? "tool.completed" : event.type;
  return "effectId" in event ? `${type} ${event.effectId}` : type;
};

/** The answers of tools that run at the same time, in the order of their calls: which of them comes first is nobody's choice. */
const inOneOrder = (journal: readonly Entry[]): readonly Entry[] => {
  const isAnswer = (entry: Entry | undefined): boolean => shapeOf(entry ?? nothing).startsWith("tool.completed");
  const ordered = [...journal];
  for (let from = 0; from < ordered.length; from += 1) {
    let end = from;
    while (isAnswer(ordered[end])) end += 1;
    const answers = ordered.slice(from, end).sort((one, other) => (shapeOf(one) < shapeOf(other) ? -1 : 1));
    ordered.splice(from, answers.length, ...answers);
    from = Math.max(from, end);
  }
  // In another place it is the same entry: nothing was decided about it that hangs on the others.
  return ordered.map((entry, index) => ({ ...entry, seq: journal[index]?.seq ?? index }) as Entry);
};

const nothing: Entry = { seq: 0, event: { type: "system.reset", at: 0 } };

/**
 * Answers cost the same. Summaries may cost something else, since a result that a crash swallowed is longer or shorter;
 * but all of it is counted once.
 */
const usageProblems = (entries: readonly Entry[], state: State, uncrashed: readonly Entry[]): readonly string[] => [
  ...(isSame(usageOf(entries, isAnswer), usageOf(uncrashed, isAnswer)) ? [] : ["its answers cost something else"]),
  ...(isSame(
    state.context.usage.total,
    usageOf(entries, () => true),
  )
    ? []
    : ["the usage is not that of its calls"]),
];

const isAnswer = (effectId: string): boolean => !effectId.includes("/summary-");

const usageOf = (entries: readonly Entry[], of: (effectId: string) => boolean): Usage =>
  entries.reduce(
    (total, { event }) =>
      (event.type === "llm.completed" || event.type === "llm.failed") && of(event.effectId)
        ? usageMonoid.concat(total, usageOfCall(event.usage ?? null, null))
        : total,
    usageMonoid.empty,
  );

const isSame = (left: Usage, right: Usage): boolean => JSON.stringify(left) === JSON.stringify(right);
