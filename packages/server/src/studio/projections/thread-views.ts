import {
  type Message,
  messagesOf,
  type OpenTurn,
  type State,
  toArray,
  type Turn,
  type Usage,
  approvalsOf,
  lastTurnOf,
  partText,
  turnNumbered,
} from "@colloquy/machine";
import { differenceBetween, treeRows, turnTree } from "@colloquy/machine/inspect";
import type { DifferenceView, EntryView, ThreadFigures, ThreadOverview, TimelineRow, TreeItem } from "../wire/wire.ts";
import { beginning, placeOf } from "./timeline-row.ts";

/** Returns the present overview of a thread. Pure. */
export const overviewOf = (state: State, entries: number): ThreadOverview => {
  const { threadId, conversation, forkedFrom, usage, open } = state.context;
  return {
    threadId,
    entries,
    turns: conversation.turns.length + (open === null ? 0 : 1),
    head: open?.number ?? conversation.head,
    place: placeOf(state.value),
    forkedFrom,
    approvals: approvalsOf(state),
    usage: usageWords(usage.total),
  };
};

/** Returns the figures of a thread for the list. Pure, and reads only the first turn. */
export const figuresOf = (state: State): ThreadFigures => {
  const { conversation, usage, open, metadata } = state.context;
  const { inputTokens, outputTokens } = usage.total;
  const costs = Object.values(usage.total.cost);
  const first = turnNumbered(state, 1) ?? open;
  const question = first === null ? undefined : toArray(first.messages).find(({ role }) => role === "user");
  const { title = question?.parts.map(partText).join(" ") } = metadata;
  return {
    // The first line says enough.
    title: typeof title === "string" ? beginning(title.trimStart().split("\n", 1)[0] ?? "") : "",
    place: placeOf(state.value),
    approvals: approvalsOf(state).length,
    turns: conversation.turns.length + (open === null ? 0 : 1),
    tokens: inputTokens.reported + outputTokens.reported === 0 ? null : inputTokens.sum + outputTokens.sum,
    cost:
      costs.length === 0
        ? null
        : { text: costWords(usage.total), nano: costs.reduce((nano, { sum }) => nano + sum, 0) },
  };
};

/** Returns all turns with their branches, in the order of rows. Pure. @param rows those of the journal */
export const treeOf = (state: State, rows: readonly TimelineRow[]): readonly TreeItem[] => {
  const { conversation, open } = state.context;
  const turns = new Map<number, Turn | OpenTurn>(toArray(conversation.turns).map((turn) => [turn.number, turn]));
  if (open !== null) turns.set(open.number, open);
  const opened = new Map<number, TimelineRow>();
  for (const row of rows) if (row.turn !== null && !opened.has(row.turn)) opened.set(row.turn, row);
  const tree = turnTree(state, turns.values());
  const head = open?.number ?? conversation.head;
  return treeRows(tree, new Set()).map(({ turn, depth, begins }) => ({
    turn,
    depth,
    begins,
    onPath: tree.path.has(turn),
    isHead: turn === head,
    status: turn === 0 ? "beginning" : statusOf(turns.get(turn)),
    words: opened.get(turn)?.words ?? "",
    names: Object.entries(conversation.checkpoints).flatMap(([name, at]) => (at === turn ? [name] : [])),
    seq: opened.get(turn)?.seq ?? 0,
  }));
};

/** Returns the facts of the state after an entry. Pure. */
export const factsOf = (state: State): EntryView["facts"] => {
  const { conversation, open, queue, usage, updatedAt, cut, configuration, fullness } = state.context;
  const turn = lastTurnOf(state);
  const facts: readonly (readonly [string, string])[] = [
    ["time", timeOf(updatedAt)],
    ["head", conversation.head === 0 ? "the beginning" : `turn ${conversation.head} of ${conversation.turns.length}`],
    ["open turn", open === null ? "" : `${open.number}, step ${open.step}, ${open.stage.type}`],
    ["last turn", open !== null || turn === undefined ? "" : `${turn.number} ${turn.outcome.status}`],
    ["waiting", queue.length === 0 ? "" : `${queue.length} ${queue.length === 1 ? "ask" : "asks"}`],
    ["cut", cut === null ? "" : cut.policy],
    ["fullness", fullness === "within" ? "" : fullness.replaceAll("_", " ")],
    ["usage", usageWords(usage.total)],
    ["configuration", configuration.fingerprint],
  ];
  return facts.filter(([, text]) => text !== "");
};

/** Returns the differences of two states, and what follows their common beginning on each side. Pure. */
export const differenceOf = (left: State, right: State): DifferenceView => {
  const [ours, theirs] = [spokenIn(left), spokenIn(right)];
  const differs = ours.findIndex(
    (message, index) => message.digest !== theirs[index]?.digest || message.role !== theirs[index]?.role,
  );
  const alike = differs === -1 ? ours.length : differs;
  return {
    difference: differenceBetween(left, right),
    alike,
    left: ours.slice(alike, alike + shownMax),
    right: theirs.slice(alike, alike + shownMax),
  };
};

const shownMax = 100;

/** Returns the messages on the path, the system message first. */
export const spokenIn = (state: State): readonly Message[] => {
  const { system } = state.context.conversation;
  return system === null ? messagesOf(state) : [system, ...messagesOf(state)];
};

const statusOf = (turn: Turn | OpenTurn | undefined): string =>
  turn === undefined ? "" : "outcome" in turn ? turn.outcome.status : "open";

export const usageWords = (usage: Usage): string => {
  const { calls, inputTokens, outputTokens } = usage;
  const tokens = [
    [inputTokens, "in"],
    [outputTokens, "out"],
  ] as const;
  return [
    `${calls} ${calls === 1 ? "call" : "calls"}`,
    ...tokens.flatMap(([{ sum, reported, unreported }, way]) =>
      reported === 0 ? [] : [`${unreported === 0 ? "" : "≥ "}${sum.toLocaleString("en")} tokens ${way}`],
    ),
    costWords(usage),
  ]
    .filter((words) => words !== "")
    .join(", ");
};

/** Formats the known cost: `0.012 USD`, `≥ 0.012 USD` if some calls have no price. Empty if none has one. */
const costWords = ({ cost, unpriced }: Usage): string =>
  Object.entries(cost)
    .map(([currency, { sum }]) => `${unpriced === 0 ? "" : "≥ "}${moneyOf(sum, currency)}`)
    .join(" + ");

export const moneyOf = (nano: number, currency: string): string =>
  `${(nano / 1e9).toLocaleString("en", { maximumSignificantDigits: 3 })} ${beginning(currency, 8)}`;

/** Formats a time; the time of an event may be any number. */
const timeOf = (at: number): string => {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString();
};
