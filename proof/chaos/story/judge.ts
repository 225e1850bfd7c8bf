// The one judge: acknowledged entries are in the journal, the journal folds and replays, each ask has one outcome,
// once-only tools ran once, calls that need approval got it, and prompts are well-formed.
import {
  type AnswerableEffect,
  type ConversationMachine,
  type Entry,
  type Message,
  messagesOf,
  outstanding,
  phaseOf,
  type State,
  type ToolDeclaration,
  toolResultOf,
  turnsOf,
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
import type { Answer, Fact, Performed } from "./facts.ts";
import { answerTo, type Asked, declarations, inputOf } from "./script.ts";
import { recoveredAs, rowOf } from "./table.ts";
import { digestOfEntry } from "./watched.ts";

interface Held {
  readonly journal: readonly unknown[];
  readonly left?: readonly (readonly Entry[])[];
  readonly asked: readonly Asked[];
  readonly unanswered?: readonly string[];
  /** Processes paused past their leases, so others may repeat what they had begun. */
  readonly hasStalled?: boolean;
  readonly facts: readonly Fact[];
  /** The machine, if it must decide the same again; and a journal of the same conversation without a crash. */
  readonly machine?: ConversationMachine;
  readonly uncrashed?: Uncrashed;
}

export interface Uncrashed {
  readonly journal: readonly Entry[];
  readonly answers: readonly Answer[];
  /**
   * Whether concurrent answers have a fixed order, so that the journals have the same entries; or all have except those
   * of tools.
   */
  readonly isOrdered: boolean | "but for tools";
}

interface Facts {
  readonly entries: readonly Entry[];
  readonly states: readonly State[];
  readonly state: State;
  readonly performed: readonly Performed[];
  readonly answers: readonly Answer[];
}

/** Returns the problems of a conversation; empty if nothing is lost, repeated, or run without approval. */
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

/** Lists effects performed before a stored entry asked for them, or, for `once`, before their start was journalled. */
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

const keyOf = (effect: AnswerableEffect): string | null =>
  effect.type === "callTool" ? `${effect.threadId}/${effect.callId}#1` : null;

/** Checks that the journal has all acknowledged entries, and all that each crash left. */
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

/** Checks that each ask has one outcome, which its askers got, and that calls with a result ran, and not too often. */
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
    // Not all processes report that a tool is done.
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

/** Checks that prompts are well-formed, in the journal and as sent, and that a repeated call has the same one. */
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

/** Returns the effects at crashes whose answers contradict their row of the table. */
const tableProblems = (entries: readonly Entry[], left: Held["left"] & object): readonly string[] =>
  lastOut(left).flatMap((effect) => {
    const row = rowOf(effect);
    const answer = entries.find(({ event }) => isAnswerTo(event, effect.id));
    // A timer or a summary may be cancelled instead.
    if (answer === undefined)
      return row.name === "timer" || row.name === "summary" ? [] : [`${effect.id} (${row.name}) was never answered`];
    const is = recoveredAs(answer);
    return is === row.recovered
      ? []
      : [`${effect.id} (${row.name}) was answered by ${is ?? "itself"}, and should be by ${row.recovered ?? "itself"}`];
  });

/** Returns the effects that were outstanding at crashes. Those outstanding at two were answered after the second. */
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

/** Checks that only the effects at crashes differ from the conversation without a crash. */
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

/** Checks that the conversation also continues as expected after an entry that a recovery wrote. */
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

/** Sorts the answers of concurrent tools by their calls, as the order of their arrival is random. */
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
  // Another position does not change the entry, as its decision does not depend on the others.
  return ordered.map((entry, index) => ({ ...entry, seq: journal[index]?.seq ?? index }) as Entry);
};

const nothing: Entry = { seq: 0, event: { type: "system.reset", at: 0 } };

/**
 * Checks that answers cost the same. Summaries may cost a different amount, as the results that recovery writes differ
 * in length; but each cost must count once.
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

/**
 * Returns the problems at a conversation's end: each ask must have its own completed turn, and nothing may be
 * outstanding.
 */
const endProblems = (state: State, asks: readonly string[]): readonly string[] => {
  const turns = turnsOf(state).map(({ asks, outcome }) => `${asks.map(({ askId }) => askId).join()} ${outcome.status}`);
  const isAtRest = phaseOf(state) === "completed" && outstanding(state).length === 0;
  return [
    ...(turns.join() === asks.map((askId) => `${askId} completed`).join() ? [] : [`the turns are ${turns.join(", ")}`]),
    ...(isAtRest ? [] : ["it is not at rest"]),
  ];
};

/** Compares the messages with those without a crash, except for the results of calls that a crash cut off. */
const messageProblems = (state: State, uncrashed: State): readonly string[] => {
  const [messages, expected] = [messagesOf(state), messagesOf(uncrashed)];
  if (messages.length !== expected.length)
    return [`there are ${messages.length} messages, and ${expected.length} without a crash`];
  return messages.flatMap((message, index) => {
    const other = expected[index];
    return other === undefined || JSON.stringify(message) === JSON.stringify(other) || isSwallowed(message, other)
      ? []
      : [`message ${message.id} is not as it is without a crash`];
  });
};

const isSwallowed = (message: Message, other: Message): boolean => {
  const result = toolResultOf(message);
  return result !== undefined && result.outcome !== "completed" && result.callId === toolResultOf(other)?.callId;
};
