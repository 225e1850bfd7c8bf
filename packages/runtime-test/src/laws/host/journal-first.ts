import {
  type AnswerableEffect,
  type DroppedBecause,
  type Effect,
  type Entry,
  outstanding,
  type Signal,
  type State,
  turnNumbered,
} from "@colloquy/machine";
import { preview, LawBroken, requireSame } from "../evidence/law-broken.ts";
import { foldedUnder, stateAfter } from "./host-under-test.ts";

/** An act of a host on one thread. A log has them in the order of the acts. */
export type HostLogItem =
  /** The host opened the thread and read its journal, for the first time or again after a crash. */
  | { readonly did: "loaded"; readonly entries: readonly Entry[] }
  /** An entry was stored: the append had returned. */
  | { readonly did: "appended"; readonly entry: Entry }
  /** An effect was handed to its handler. */
  | { readonly did: "performed"; readonly effect: Effect };

/**
 * R1: nothing is performed before it is journalled. Everything that a host performs follows from the entries that it
 * had stored by then, by folding alone. An answerable effect was requested by one of them, and is that same effect. A
 * cancellation names an effect that they requested and that is no longer outstanding. A signal reports facts that
 * follow from them.
 */
export const lawNothingBeforeJournal = (log: readonly HostLogItem[]): void => {
  let state: State | null = null;
  const asked = new Map<string, AnswerableEffect>();
  const were: Seen = { sizes: new Set(), fullness: new Set() };
  for (const [index, item] of log.entries()) {
    const name = `item ${index} of the log`;
    switch (item.did) {
      case "loaded":
        state = item.entries.length === 0 ? null : foldedUnder("R1", item.entries, `${name}: `);
        break;
      case "appended":
        state = after(state, item.entry, `${name}: `);
        break;
      case "performed":
        requireJournalled(state, asked, were, item.effect, name);
        break;
    }
    if (state !== null) remember(were, state);
    for (const effect of state === null ? [] : outstanding(state)) asked.set(effect.id, effect);
  }
};

/** Facts about the states after each entry that leave no trace in later states. */
interface Seen {
  readonly sizes: Set<string>;
  readonly fullness: Set<string>;
}

const remember = ({ sizes, fullness }: Seen, state: State): void => {
  fullness.add(state.context.fullness);
  sizes.add(sizeNamed(sizeOf(state)));
};

const sizeNamed = ({ turns, messages }: { readonly turns: number; readonly messages: number }): string =>
  `${turns} turns, ${messages} messages`;

/** Returns the size of the path, including messages that wait to start the next turn. */
const sizeOf = (state: State): { readonly turns: number; readonly messages: number } => {
  const { conversation } = state.context;
  const place = turnNumbered(state, conversation.head)?.place;
  return {
    turns: place?.turns ?? 0,
    messages: (place?.messages ?? conversation.seed.length) + conversation.appended.length,
  };
};

const after = (state: State | null, entry: Entry, where: string): State => {
  if (state !== null && entry.event.type !== "thread.started" && entry.seq !== state.context.seq + 1)
    throw new LawBroken("R1", `${where}entry ${entry.seq} was stored after entry ${state.context.seq}`);
  return stateAfter("R1", state, entry, where);
};

const requireJournalled = (
  state: State | null,
  asked: ReadonlyMap<string, AnswerableEffect>,
  were: Seen,
  effect: Effect,
  name: string,
): void => {
  if (state === null) throw new LawBroken("R1", `${name}: ${effect.type} was performed before anything was journalled`);
  if (effect.type === "publish") {
    if (!isBorneOut(state, were, effect.signal))
      throw new LawBroken("R1", `${name}: the journal does not bear out ${preview(effect.signal)}`);
    return;
  }
  const id = "effectId" in effect ? effect.effectId : effect.id;
  const original = asked.get(id);
  if (original === undefined) throw new LawBroken("R1", `${name}: no entry that was stored by then asks for "${id}"`);
  if ("effectId" in effect) {
    if (outstanding(state).some((out) => out.id === id))
      throw new LawBroken("R1", `${name}: "${id}" was cancelled and is still wanted`);
    return;
  }
  // A tool call may have been journalled as started since.
  requireSame("R1", name, { ...original, started: null }, { ...effect, started: null });
};

const isBorneOut = (state: State, were: Seen, signal: Signal): boolean => {
  const { open, queue, summaries, summarising } = state.context;
  switch (signal.type) {
    case "turn.started":
      return open?.number === signal.turn || turnNumbered(state, signal.turn) !== undefined;
    case "turn.ended":
      return turnNumbered(state, signal.turn)?.outcome.status === signal.status;
    case "thread.updated":
      return were.sizes.has(sizeNamed(signal));
    case "model.replied":
    case "model.failed":
      return signal.purpose === "summary" ? summaries > 0 : isOver(state, signal);
    case "output.refused":
    case "tool.ended":
      return isOver(state, signal);
    case "context.warning":
      return were.fullness.has(signal.warning);
    case "summary.started":
      return summaries >= signal.number;
    case "summary.completed":
      return (turnNumbered(state, signal.covers.to)?.summaries ?? []).some(({ number }) => number === signal.number);
    case "summary.failed":
      return summaries >= signal.number && summarising?.number !== signal.number;
    case "context.unfit":
    case "limit.reached":
      return turnNumbered(state, signal.turn)?.outcome.status === "failed";
    case "ask.queued":
      return queue.some(({ askId }) => askId === signal.askId);
    case "ask.withdrawn":
      return queue.every(({ askId }) => askId !== signal.askId);
    case "ask.superseded":
      return wasDropped(state, signal.askId, "superseded");
    case "ask.returned":
      return wasDropped(state, signal.askId, "returned");
    case "ask.joined":
      return open?.number === signal.turn && open.joining.some(({ askId }) => askId === signal.askId);
    case "ask.delivered":
      return asksOfTurn(state, signal.turn).includes(signal.askId);
    case "turn.interrupted":
      return turnNumbered(state, signal.turn)?.outcome.status === "cancelled";
    case "retry.scheduled":
      return open?.number === signal.turn;
    case "policy.failed":
      return true;
  }
};

/** Returns whether a call of an earlier step is no longer awaited. */
const isOver = (
  state: State,
  call: { readonly turn: number; readonly step: number; readonly attempt?: number; readonly position?: number },
): boolean => {
  const { open } = state.context;
  const steps = open?.number === call.turn ? open.step : (turnNumbered(state, call.turn)?.steps ?? 0);
  return (
    steps >= call.step &&
    !outstanding(state).some(
      (effect) =>
        (effect.type === "callTool" || (effect.type === "callLlm" && effect.purpose === "answer")) &&
        effect.turn === call.turn &&
        effect.step === call.step &&
        (effect.type === "callTool" ? effect.position === call.position : effect.attempt === call.attempt),
    )
  );
};

const wasDropped = ({ context: { dropped } }: State, askId: string, because: DroppedBecause): boolean =>
  dropped.some((ask) => ask.askId === askId && ask.because === because);

const asksOfTurn = (state: State, turn: number): readonly string[] => {
  const { open } = state.context;
  const asks = open?.number === turn ? open.asks : (turnNumbered(state, turn)?.asks ?? []);
  return asks.map(({ askId }) => askId);
};
