// Sends the machine all sequences of a small alphabet up to a length, breadth first. Of the states that differ only in
// names and history, one is continued.
import { conversationMachine, type Entry, type Event, start, type State, transition } from "@colloquy/machine";
import { describeDifference, replay } from "@colloquy/machine/inspect";
import { leafOf } from "@colloquy/runtime-test";
import { laws } from "@colloquy/runtime-test/laws";
import * as Either from "fp-ts/lib/Either.js";
import { getAdjacencyMap } from "xstate/graph";

import { wordsOf } from "../kit/report.ts";
import { explored, lettersIn } from "./alphabet.ts";

/** The results of all sequences. */
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
  readonly events: readonly Event[];
  readonly journal: readonly Entry[];
}

/** Sends all sequences up to a length. The laws are checked on those up to `judged`, and on the first to each arrow. */
export const sequencesOf = (length: number, judged: number = length): Sequences => {
  const arrows = new Map<string, readonly string[]>();
  const refusals = new Set<string>();
  const problems: string[] = [];
  const first = start(machine, input);
  let edge: readonly Reached[] = [{ state: first.state, events: [], journal: [first.entry] }];
  const seen = new Set([canonical(first.state)]);
  for (let step = 1; step <= length && edge.length > 0; step++) {
    const next: Reached[] = [];
    for (const { state, events, journal } of edge) {
      for (const event of lettersIn(state)) {
        const stepped = transition(machine, state, event);
        if (!stepped.handled) {
          refusals.add(`${event.type} ${stepped.refusal.kind}`);
          continue;
        }
        const reached = { state: stepped.state, events: [...events, event], journal: [...journal, stepped.entry] };
        const arrow = arrowOf(state, event, stepped.state);
        const key = canonical(stepped.state);
        const [isFirst, isNew] = [!arrows.has(arrow), !seen.has(key)];
        if (isFirst || (isNew && step <= judged)) problems.push(...problemsOf(reached));
        if (isFirst) arrows.set(arrow, namesOf(reached.events));
        if (isNew) next.push(reached);
        seen.add(key);
      }
    }
    edge = next;
  }
  return { states: seen, arrows, refusals, problems };
};

const machine = conversationMachine(explored);

const input = { threadId: "t", at: 1 } as const;

/** Checks all laws of the machine on a sequence. */
const problemsOf = ({ events, journal }: Reached): readonly string[] => {
  const moves = events.map((event) => ({ move: "send", afterMs: 0, event }) as const);
  const problems: string[] = [];
  try {
    for (const law of Object.values(laws)) law(explored, { input, moves });
    // R5 leaves out sent events.
    const replayed = replay(machine, journal);
    if (Either.isLeft(replayed)) problems.push(`R5: ${describeDifference(replayed.left)}`);
  } catch (thrown) {
    problems.push(wordsOf(thrown));
  }
  return problems.map((problem) => `${namesOf(events).join(", ")}: ${problem}`);
};

interface Drawn {
  readonly state: State;
  readonly transitions: Readonly<Record<string, { readonly event: Event; readonly state: State }>>;
}

/** The same states and arrows, as XState's own tools find them in the statechart. */
export const drawnByXState = (length: number): Pick<Sequences, "states"> & { readonly arrows: ReadonlySet<string> } => {
  const map = getAdjacencyMap(machine, {
    input,
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
  const [, everywhere = ""] = /everywhere and without leaving the state, (.*)$/mu.exec(chart) ?? [];
  const staying = everywhere.split(", ").map((event) => {
    const leaves = [...arrows.keys()].flatMap((arrow) => {
      const [, from, to, by] = /^(\w+) --> (\w+) : (.*)$/u.exec(arrow) ?? [];
      return by === event && from !== undefined && from === to ? [from] : [];
    });
    return `everywhere : ${event}\n    ${leaves.toSorted().join(", ")}`;
  });
  return [
    ...lines,
    "",
    ...staying,
    "",
    "refused",
    ...[...refusals].toSorted().map((refusal) => `    ${refusal}`),
    "",
  ].join("\n");
};

const substates: Readonly<Record<string, readonly string[]>> = {
  awaiting_llm: ["responding", "compacting", "checking", "backing_off"],
  awaiting_tool: ["running", "awaiting_approval"],
};

const notTaken = "not taken";

const namesOf = (events: readonly Event[]): readonly string[] => events.map(({ type }) => type);

/** An arrow as `docs/conversation.mmd` draws it. */
const arrowOf = (from: State, { type }: { readonly type: string }, to: State): string =>
  `${leafOf(from)} --> ${leafOf(to)} : ${type}`;

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
    hasSystem: conversation.system !== null,
    open:
      open === null
        ? null
        : [
            open.step,
            open.joining.length,
            open.waiting.length > 0,
            open.output?.mode,
            open.callerTools?.map(({ name }) => name),
            open.asks.some(({ messages }) => messages !== 0),
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
        ? stage.calls.map(({ name, started, attempt, approval, by, result }) => [
            name,
            started,
            attempt,
            approval?.status,
            approval !== null && "because" in approval ? approval.because : null,
            by,
            result === null,
          ])
        : [],
  };
  return JSON.stringify(shown);
};
