// Sends the machine all sequences of a small alphabet up to a length, breadth first. Of the states that differ only in
// names and history, one is continued.
import {
  type ConversationMachine,
  type Entry,
  type Event,
  outstanding,
  start,
  type State,
  transition,
} from "@colloquy/machine";
import { fold } from "@colloquy/machine/journal";
import { checkPrompt } from "@colloquy/machine/policies";
import { leafOf } from "@colloquy/runtime-test";
import { differenceOf } from "@colloquy/runtime-test/laws";
import * as Either from "fp-ts/lib/Either.js";
import { getAdjacencyMap } from "xstate/graph";

import { lettersIn, machines } from "./alphabet.ts";

/** The results of all sequences of a machine. */
export interface Sequences {
  /** The states, without their names and history. */
  readonly states: ReadonlySet<string>;
  /** The shortest sequence to each arrow, `from --> to : event`. */
  readonly arrows: ReadonlyMap<string, readonly string[]>;
  /** The refusals by event and kind. */
  readonly refusals: ReadonlySet<string>;
  readonly problems: readonly string[];
}

interface Reached {
  readonly state: State;
  readonly journal: readonly Entry[];
}

/** Sends all sequences up to a length. */
export const sequencesOf = (machine: ConversationMachine, length: number): Sequences => {
  const arrows = new Map<string, readonly string[]>();
  const refusals = new Set<string>();
  const problems: string[] = [];
  const first = start(machine, { threadId: "t", at: 1 });
  let edge: readonly Reached[] = [{ state: first.state, journal: [first.entry] }];
  const seen = new Set([canonical(first.state)]);
  for (let step = 1; step <= length && edge.length > 0; step++) {
    const next: Reached[] = [];
    for (const { state, journal } of edge) {
      problems.push(
        ...problemsIn(machine, state, journal).map((problem) => `${namesOf(journal).join(", ")}: ${problem}`),
      );
      for (const event of lettersIn(state)) {
        const stepped = transition(machine, state, event);
        if (!stepped.handled) {
          refusals.add(`${event.type} ${stepped.refusal.kind}`);
          continue;
        }
        const reached = { state: stepped.state, journal: [...journal, stepped.entry] };
        const arrow = arrowOf(state, event, stepped.state);
        if (!arrows.has(arrow)) arrows.set(arrow, namesOf(reached.journal));
        const key = canonical(stepped.state);
        if (seen.has(key)) continue;
        seen.add(key);
        next.push(reached);
      }
    }
    edge = next;
  }
  return { states: seen, arrows, refusals, problems };
};

/** All machines together: the shortest sequence to each arrow of any of them. */
export const sequencesOfAll = (length: number): Sequences => {
  const each = Object.values(machines).map((machine) => sequencesOf(machine, length));
  const arrows = new Map<string, readonly string[]>();
  for (const [arrow, path] of each.flatMap((one) => [...one.arrows]))
    if (path.length < (arrows.get(arrow)?.length ?? Infinity)) arrows.set(arrow, path);
  return {
    // The machines differ, and so do their states.
    states: new Set(each.flatMap(({ states }, index) => [...states].map((state) => `${index} ${state}`))),
    arrows,
    refusals: new Set(each.flatMap(({ refusals }) => [...refusals])),
    problems: each.flatMap(({ problems }) => problems),
  };
};

interface Drawn {
  readonly state: State;
  readonly transitions: Readonly<Record<string, { readonly event: Event; readonly state: State }>>;
}

/** The same states and arrows, as XState's own tools find them in the statechart. */
export const drawnByXState = (
  machine: ConversationMachine,
  length: number,
): Pick<Sequences, "states"> & { readonly arrows: ReadonlySet<string> } => {
  const map = getAdjacencyMap(machine, {
    input: { threadId: "t", at: 1 },
    events: lettersIn,
    serializeState: canonical,
    // Each event that is taken is one entry.
    stopWhen: ({ context }) => context.seq >= length,
  });
  // XState's types of a map leave open what it holds.
  const drawn = Object.values(map) as readonly Drawn[];
  const arrows = drawn.flatMap(({ state, transitions }) =>
    Object.values(transitions).flatMap(({ event, state: next }) =>
      next.context.seq === state.context.seq ? [] : [arrowOf(state, event, next)],
    ),
  );
  return { states: new Set(Object.keys(map)), arrows: new Set(arrows) };
};

/** The arrows of the chart, a line each, with the shortest sequence to each; and every refusal, by event and kind. */
export const arrowsPage = (chart: string, { arrows, refusals }: Sequences): string => {
  const lines = chart.split("\n").flatMap((line) => {
    const [, from = "", to, events] = /^ {2}(\w+) --> (\w+) : (.*)$/u.exec(line) ?? [];
    return (events?.split(", ") ?? []).map((event) => {
      const paths = (substates[from] ?? [from]).flatMap((leaf) =>
        [arrows.get(`${leaf} --> ${to} : ${event}`) ?? []].filter(({ length }) => length > 0),
      );
      const [shortest] = paths.toSorted((one, other) => one.length - other.length);
      return `${from} --> ${to} : ${event}\n    ${shortest?.join(", ") ?? notTaken}`;
    });
  });
  return [...lines, "", "refused", ...[...refusals].toSorted().map((refusal) => `    ${refusal}`), ""].join("\n");
};

const substates: Readonly<Record<string, readonly string[]>> = {
  awaiting_llm: ["responding", "compacting", "checking", "backing_off"],
  awaiting_tool: ["running", "awaiting_approval"],
};

const notTaken = "not taken";

const namesOf = (journal: readonly Entry[]): readonly string[] => journal.slice(1).map(({ event }) => event.type);

/** An arrow as `docs/conversation.mmd` draws it. */
const arrowOf = (from: State, { type }: { readonly type: string }, to: State): string =>
  `${leafOf(from)} --> ${leafOf(to)} : ${type}`;

/** Checks the laws that can be seen in one state: M3, M5, M6, M7 and M10. */
const problemsIn = (machine: ConversationMachine, state: State, journal: readonly Entry[]): readonly string[] => {
  const problems: string[] = [];
  const folded = fold(JSON.parse(JSON.stringify(journal)) as readonly Entry[]);
  const difference = Either.isLeft(folded) ? folded.left.reason : differenceOf(state, folded.right);
  if (difference !== null) problems.push(`M5: ${difference}`);
  const effects = outstanding(state);
  const answering = effects.filter((effect) => effect.type === "callLlm" && effect.purpose === "answer").length;
  const isWorking = effects.some(({ type }) => type === "callTool" || type === "requestApproval");
  if (answering > 1 || (answering === 1 && isWorking)) problems.push("M7: a call is out beside other work");
  if (new Set(effects.map(({ id }) => id)).size < effects.length) problems.push("M6: two effects have one id");
  for (const effect of effects) {
    const problem = effect.type === "callLlm" ? checkPrompt(effect.messages) : null;
    if (problem !== null) problems.push(`M10: ${problem.reason}`);
  }
  for (const event of lettersIn(state)) {
    const [one, other] = [
      transition(machine, state, event),
      transition(machine, JSON.parse(JSON.stringify(state)) as State, event),
    ];
    if (one.handled !== other.handled || (one.handled && differenceOf(one.state, other.state) !== null))
      problems.push(`M3: ${event.type} is decided otherwise after a round trip through JSON`);
  }
  return problems;
};

/** A state without its history and its names: two with the same text take the same sequences from here on. */
const canonical = (state: State): string => {
  const { open, queue, waking, summarising, conversation, fullness } = state.context;
  const stage = open?.stage;
  const shown = {
    leaf: leafOf(state),
    queue: queue.map(({ limits }) => limits?.steps ?? null),
    isWaking: waking !== null,
    isSummarising: summarising !== null,
    fullness,
    turns: Math.min(conversation.turns.length, 2),
    head: conversation.head === 0,
    appended: conversation.appended.length > 0,
    open:
      open === null
        ? null
        : [
            open.step,
            open.joining.length,
            open.waiting.length > 0,
            open.output !== undefined,
            open.refusedOutputs?.length ?? 0,
            open.asks.length,
            conversation.head === open.parent,
          ],
    attempt:
      stage !== undefined && "attempt" in stage
        ? stage.attempt
        : stage?.type === "responding"
          ? [stage.call.attempt, stage.call.partial !== null]
          : 0,
    calls:
      stage?.type === "running"
        ? stage.calls.map(({ name, started, attempt, approval, result }) => [
            name,
            started,
            attempt,
            approval?.status,
            result === null,
          ])
        : [],
  };
  return JSON.stringify(shown);
};
