import type { Effect, Signal, StartTimer } from "@colloquy/machine";
import { turnNumbered } from "@colloquy/machine";
import { LlmRun } from "./llm-run.ts";
import type { ThreadLoop } from "./loop.ts";
import { SummaryRun } from "./summary-run.ts";
import { ToolRun } from "./tool-run.ts";

/** Performs an effect: begins it and returns. What comes of it is posted to the loop as an event. */
export const perform = (loop: ThreadLoop, effect: Effect): void => {
  // Each performer takes effects of its own type; TypeScript can't follow that through an indexed union.
  (performers[effect.type] as (loop: ThreadLoop, effect: Effect) => void)(loop, effect);
};

/** A performer for each type of effect: one that is missing does not compile. */
type Performers = {
  readonly [Type in Effect["type"]]: (loop: ThreadLoop, effect: Extract<Effect, { readonly type: Type }>) => void;
};

const performers: Performers = {
  callLlm: (loop, effect) => {
    if (effect.purpose === "summary") {
      new SummaryRun(loop, effect).begin();
      return;
    }
    if (effect.attempt === 1) {
      if (effect.step > 1) endStep(loop, effect.turn, effect.step - 1);
      loop.emit(effect.turn, { type: "step.started", turn: effect.turn, step: effect.step });
    }
    new LlmRun(loop, effect).begin();
  },
  callTool: (loop, effect) => new ToolRun(loop, effect).begin(),
  startTimer: (loop, effect) => startTimer(loop, effect),
  cancelLlm: (loop, { effectId }) => stop(loop, effectId),
  cancelTool: (loop, { effectId }) => stop(loop, effectId),
  cancelTimer: (loop, { effectId }) => stop(loop, effectId),
  publish: (loop, { signal }) => {
    loop.equipment.observation.signal(signal, loop.threadId);
    announce(loop, signal);
  },
};

/** Stops what is being done under the id of an effect, if anything is. */
export const stop = (loop: ThreadLoop, effectId: string): void => {
  loop.running.get(effectId)?.stop(null);
  loop.running.delete(effectId);
};

const startTimer = (loop: ThreadLoop, { id, dueAt, purpose }: StartTimer): void => {
  const { clock } = loop.equipment;
  const cancel = clock.wakeAt(dueAt, () => {
    loop.running.delete(id);
    // A deadline cuts a reply off without carrying what was shown of it, so that is told before.
    if (purpose === "deadline") loop.responding?.tellProgress();
    loop.post({ event: { type: "timer.fired", at: clock.now(), effectId: id }, receipt: null });
  });
  loop.running.set(id, { stop: cancel });
};

/** Tells the asks that a signal is about. */
const announce = (loop: ThreadLoop, signal: Signal): void => {
  switch (signal.type) {
    case "turn.started":
      for (const ask of loop.asks) if (signal.askIds.includes(ask.askId)) ask.turn = signal.turn;
      loop.emit(signal.turn, signal);
      return;
    case "turn.ended":
      endTurn(loop, signal.turn);
      return;
    case "ask.withdrawn":
      for (const ask of loop.asks) if (ask.askId === signal.askId) ask.withdraw();
      return;
    case "ask.queued":
      for (const ask of loop.asks) if (ask.askId === signal.askId) ask.push({ type: "signal", signal });
      return;
    case "policy.failed":
    case "context.warning":
      // Of the turn whose call it is about, which the same entry may have ended.
      for (const ask of loop.asks) if (ask.turn !== null) ask.push({ type: "signal", signal });
      return;
    case "summary.started":
    case "summary.completed":
    case "summary.failed":
      // Between turns it is nobody's.
      loop.emit(loop.state?.context.open?.number ?? 0, { type: "signal", signal });
      return;
    case "retry.scheduled":
    case "limit.reached":
    case "context.unfit":
      loop.emit(signal.turn, { type: "signal", signal });
      return;
    case "thread.updated":
  }
};

const endStep = (loop: ThreadLoop, turn: number, step: number): void => {
  const { threadId, equipment } = loop;
  loop.emit(turn, { type: "step.ended", turn, step });
  equipment.observation.after("afterStep", { threadId, turn, step });
};

const endTurn = (loop: ThreadLoop, number: number): void => {
  const { threadId, equipment, state } = loop;
  const turn = state === null ? undefined : turnNumbered(state, number);
  if (turn === undefined) return;
  if (turn.steps > 0) endStep(loop, number, turn.steps);
  equipment.observation.after("afterTurn", { threadId, turn });
  for (const ask of loop.asks) if (ask.turn === number) ask.ended(turn);
};
