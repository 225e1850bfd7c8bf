import { type ConversationData, phaseOf, type State } from "../conversation/protocol/data.ts";
import { sizeOfPath } from "../conversation/update/turn-closing.ts";
import { canonicalText } from "../thread/make-message.ts";
import type { Json } from "../thread/plain-data.ts";
import { textOf } from "../thread/message.ts";
import { turnsOnPath } from "../thread/thread.ts";
import { toArray } from "../thread/chunks.ts";
import type { Tally } from "../thread/usage.ts";

/** The difference between two states of a thread. Plain data. */
export interface StateDifference {
  /** The last entry of each state. */
  readonly before: number;
  readonly after: number;
  /** Closed turns that only the second state has, and those that only the first has. */
  readonly added: readonly number[];
  readonly removed: readonly number[];
  /** Turns that differ: truncated, annotated, summarised. */
  readonly changed: readonly number[];
  /** Turns that came onto the path, and those that left it. */
  readonly entered: readonly number[];
  readonly left: readonly number[];
  /** All other changes, by name, in a fixed order; null if a state has no such value. */
  readonly changes: readonly StateChange[];
}

export interface StateChange {
  readonly what: StateAspect;
  readonly before: Json;
  readonly after: Json;
}

/** An aspect of a state with a short value. Tokens and calls are those of the whole thread. */
export type StateAspect = (typeof aspects)[number]["what"];

/** Compares two states of one thread, in any order. Reads both as a whole. */
export const differenceBetween = (before: State, after: State): StateDifference => {
  const [first, second] = [closedTurns(before), closedTurns(after)];
  const [path, later] = [numbersOnPath(before), numbersOnPath(after)];
  return {
    before: before.context.seq,
    after: after.context.seq,
    added: numbersWithout(second, first),
    removed: numbersWithout(first, second),
    changed: [...first].flatMap(([number, text]) => {
      const other = second.get(number);
      return other === undefined || other === text ? [] : [number];
    }),
    entered: numbersWithout(later, path),
    left: numbersWithout(path, later),
    changes: aspects.flatMap(({ what, of }) => {
      const [was, is] = [of(before), of(after)];
      return canonicalText(was) === canonicalText(is) ? [] : [{ what, before: was, after: is }];
    }),
  };
};

const closedTurns = ({ context }: State): ReadonlyMap<number, string> =>
  new Map(toArray(context.conversation.turns).map((turn) => [turn.number, canonicalText(turn)]));

const numbersOnPath = ({ context }: State): ReadonlySet<number> =>
  new Set(turnsOnPath(context.conversation).map(({ number }) => number));

const numbersWithout = (
  numbers: ReadonlySet<number> | ReadonlyMap<number, unknown>,
  others: { readonly has: (number: number) => boolean },
): readonly number[] => [...numbers.keys()].filter((number) => !others.has(number));

const ofData =
  (of: (data: ConversationData) => Json) =>
  ({ context }: State): Json =>
    of(context);

const known = ({ sum, reported }: Tally): Json => (reported === 0 ? null : sum);

const askIds = (asks: readonly { readonly askId: string }[]): Json => asks.map(({ askId }) => askId);

const aspects = [
  { what: "phase", of: (state: State): Json => phaseOf(state) },
  { what: "head", of: ofData(({ conversation }) => conversation.head) },
  { what: "messages", of: ofData((data) => sizeOfPath(data.conversation).messages) },
  { what: "characters", of: ofData((data) => sizeOfPath(data.conversation).characters) },
  { what: "appended messages", of: ofData(({ conversation }) => conversation.appended.length) },
  { what: "open turn", of: ofData(({ open }) => open?.number ?? null) },
  { what: "its asks", of: ofData(({ open }) => (open === null ? null : askIds(open.asks))) },
  { what: "its stage", of: ofData(({ open }) => open?.stage.type ?? null) },
  { what: "its step", of: ofData(({ open }) => open?.step ?? null) },
  { what: "its messages", of: ofData(({ open }) => open?.messages.length ?? null) },
  { what: "joining asks", of: ofData(({ open }) => askIds(open?.joining ?? [])) },
  { what: "waiting asks", of: ofData(({ queue }) => askIds(queue)) },
  { what: "dropped asks", of: ofData(({ dropped }) => askIds(dropped)) },
  { what: "system", of: ofData(({ conversation: { system } }) => (system === null ? null : textOf(system))) },
  { what: "checkpoints", of: ofData(({ conversation }) => conversation.checkpoints) },
  { what: "pins", of: ofData(({ conversation }) => conversation.pins.map(({ message }) => message)) },
  { what: "metadata", of: ofData(({ metadata }) => metadata) },
  { what: "model parameters", of: ofData(({ model }) => model) },
  { what: "configuration", of: ofData(({ configuration }) => configuration.fingerprint) },
  { what: "summaries asked for", of: ofData(({ summaries }) => summaries) },
  { what: "summary being written", of: ofData(({ summarising }) => summarising?.number ?? null) },
  { what: "fullness", of: ofData(({ fullness }) => fullness) },
  { what: "model calls", of: ofData(({ usage }) => usage.total.calls) },
  { what: "input tokens", of: ofData(({ usage }) => known(usage.total.inputTokens)) },
  { what: "output tokens", of: ofData(({ usage }) => known(usage.total.outputTokens)) },
] as const;
