import { type Signal, type State, turnNumbered } from "@colloquy/machine";
import type { Asks } from "./asks.ts";

/** Notifies the asks that a signal concerns. `state` is the one after the signal. */
export const announce = (asks: Asks, signal: Signal, state: State): void => {
  switch (signal.type) {
    case "turn.started":
      for (const askId of signal.askIds) for (const ask of asks.concerned(askId, state)) ask.join(signal.turn, false);
      asks.emit(signal.turn, signal);
      return;
    case "turn.ended":
      announceEnd(asks, signal.turn, state);
      return;
    case "ask.withdrawn":
      for (const ask of asks.concerned(signal.askId, state)) ask.withdraw();
      return;
    case "ask.superseded":
    case "ask.returned":
      for (const ask of asks.concerned(signal.askId, state)) {
        ask.parts.push({ type: "signal", signal });
        if (signal.type === "ask.superseded") ask.superseded(signal.by);
        else ask.returned(signal.turn);
      }
      return;
    case "ask.joined":
    case "ask.delivered":
      for (const ask of asks.concerned(signal.askId, state)) ask.join(signal.turn);
      asks.emit(signal.turn, { type: "signal", signal });
      return;
    case "ask.queued":
      for (const ask of asks.concerned(signal.askId, state)) ask.parts.push({ type: "signal", signal });
      return;
    case "turn.interrupted":
      asks.emit(signal.turn, { type: "signal", signal });
      for (const ask of asks.concerned(signal.by, state)) ask.parts.push({ type: "signal", signal });
      return;
    case "policy.failed":
    case "context.warning":
      // Shown in the turn whose call it is about, which the same entry may have ended.
      if (asks.recorder?.newest != null) asks.emit(asks.recorder.newest, { type: "signal", signal });
      return;
    case "summary.started":
    case "summary.completed":
    case "summary.failed":
      // Between turns it belongs to no ask.
      if (state.context.open !== null) asks.emit(state.context.open.number, { type: "signal", signal });
      return;
    case "retry.scheduled":
    case "output.refused":
    case "limit.reached":
    case "context.unfit":
      asks.emit(signal.turn, { type: "signal", signal });
      return;
    // An ask is shown parts that say the same.
    case "model.replied":
    case "model.failed":
    case "tool.ended":
    case "thread.updated":
  }
};

/**
 * Tells the asks of a turn that it has ended. An ask that joined the turn but was never shown is left out: it gets a
 * signal of its own.
 */
const announceEnd = (asks: Asks, number: number, state: State): void => {
  const turn = turnNumbered(state, number);
  if (turn === undefined) return;
  asks.emit(number, { type: "turn.ended", turn: number, status: turn.outcome.status });
  for (const ask of asks.ofTurn(number)) if (turn.asks.some(({ askId }) => askId === ask.askId)) ask.ended(turn);
};
