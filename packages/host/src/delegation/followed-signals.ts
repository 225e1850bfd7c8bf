import { type LaterEntry, type Signal, type State, turnNumbered } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";

/**
 * Returns the signals about asks and turns of an entry that another host wrote, as its own machine gave them. Only
 * those that follow from the states around the entry are included; signals within a turn are not.
 */
export const followedSignals = (before: State, { event, decided }: LaterEntry, after: State): readonly Signal[] => {
  const signals: Signal[] = [];
  const was = before.context;
  const is = after.context;
  if (event.type === "ask.received" && decided?.interrupts === true && was.open !== null)
    signals.push({ type: "turn.interrupted", turn: was.open.number, by: event.askId });
  for (const { askId, because } of droppedSince(before, after)) {
    if (because === "withdrawn") signals.push({ type: "ask.withdrawn", askId });
    if (because === "superseded")
      signals.push({ type: "ask.superseded", askId, by: event.type === "ask.received" ? event.askId : askId });
  }
  if (event.type === "ask.received" && is.queue.some(({ askId }) => askId === event.askId))
    signals.push({ type: "ask.queued", askId: event.askId, place: is.queue.length });
  if (event.type === "output.refused" && was.open !== null) {
    const { number: turn, step, refusedOutputs = [] } = was.open;
    const attempt = refusedOutputs.length + 1;
    signals.push({ type: "output.refused", turn, step, attempt, issues: event.issues.length });
  }
  signals.push(...steering(before, after), ...turnsBetween(before, after));
  return frozenCopy(signals);
};

/** Returns the signals about asks that join the open turn. */
const steering = (before: State, after: State): readonly Signal[] => {
  const was = before.context.open;
  const is = after.context.open;
  if (was === null) return [];
  const turn = was.number;
  const joined = is?.number === turn ? is.joining.filter((ask) => !was.joining.some(isSame(ask))) : [];
  const shown = is?.number === turn ? is.asks : (turnNumbered(after, turn)?.asks ?? []);
  const step = is?.number === turn ? is.step : was.step;
  const delivered = was.joining.filter((ask) => shown.some(isSame(ask)));
  const returned = droppedSince(before, after).filter(({ because }) => because === "returned");
  return [
    ...joined.map(({ askId }): Signal => ({ type: "ask.joined", askId, turn })),
    ...delivered.map(({ askId }): Signal => ({ type: "ask.delivered", askId, turn, step })),
    ...returned.map(({ askId }): Signal => ({ type: "ask.returned", askId, turn })),
  ];
};

/** Returns the signals of turns that ended, and of the one that was opened; that one may have ended at once. */
const turnsBetween = (before: State, after: State): readonly Signal[] => {
  const signals: Signal[] = [];
  const was = before.context.open;
  const is = after.context.open;
  const first = before.context.conversation.turns.length + 1;
  for (let number = first; number <= after.context.conversation.turns.length; number++) {
    const turn = turnNumbered(after, number);
    if (turn === undefined) continue;
    if (was?.number !== number)
      signals.push({ type: "turn.started", turn: number, askIds: turn.asks.map(({ askId }) => askId) });
    signals.push({ type: "turn.ended", turn: number, status: turn.outcome.status });
  }
  if (is !== null && is.number !== was?.number)
    signals.push({ type: "turn.started", turn: is.number, askIds: is.asks.map(({ askId }) => askId) });
  return signals;
};

const droppedSince = (before: State, after: State): State["context"]["dropped"] => {
  const known = before.context.dropped;
  return after.context.dropped === known ? [] : after.context.dropped.filter((ask) => !known.some(isSame(ask)));
};

const isSame =
  (ask: { readonly askId: string }) =>
  (other: { readonly askId: string }): boolean =>
    other.askId === ask.askId;
