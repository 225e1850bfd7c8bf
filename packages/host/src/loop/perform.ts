import { type Effect, type Entry, type StartTimer, type Turn, turnNumbered } from "@colloquy/machine";
import { announce } from "../ask/announce.ts";
import { approvalPart, resultRequested } from "../ask/parts.ts";
import { LlmRun } from "./llm-run.ts";
import type { LoopPort } from "./loop-port.ts";
import { OutputRun } from "./output-run.ts";
import { SummaryRun } from "./summary-run.ts";
import { ToolRun } from "./tool-run.ts";

/** Performs an effect: begins it and returns. What comes of it is posted to the loop as an event. */
export const perform = (loop: LoopPort, effect: Effect): void => {
  // Each performer takes effects of its own type; TypeScript can't follow that through an indexed union.
  (performers[effect.type] as (loop: LoopPort, effect: Effect) => void)(loop, effect);
};

/** A performer for each type of effect: one that is missing does not compile. */
type Performers = {
  readonly [Type in Effect["type"]]: (loop: LoopPort, effect: Extract<Effect, { readonly type: Type }>) => void;
};

const performers: Performers = {
  callLlm: (loop, effect) => {
    if (effect.purpose === "summary") {
      new SummaryRun(loop, effect).begin();
      return;
    }
    if (effect.attempt === 1) {
      if (effect.step > 1) endStep(loop, effect.turn, effect.step - 1);
      loop.asks.emit(effect.turn, { type: "step.started", turn: effect.turn, step: effect.step });
    }
    new LlmRun(loop, effect).begin();
  },
  checkOutput: (loop, effect) => new OutputRun(loop, effect).begin(),
  callTool: (loop, effect) => {
    if (effect.by === undefined) {
      new ToolRun(loop, effect).begin();
      return;
    }
    // Nothing is kept running for the caller either.
    loop.asks.emit(effect.turn, resultRequested(effect));
    loop.host.observation.callToAnswer(effect, loop.threadId);
  },
  requestApproval: (loop, effect) => {
    loop.asks.emit(effect.turn, approvalPart(effect));
    loop.host.observation.approval(effect, loop.threadId);
  },
  // Nothing is kept running for a question.
  cancelApproval: () => {},
  startTimer: (loop, effect) => startTimer(loop, effect),
  cancelLlm: (loop, { effectId }) => stop(loop, effectId),
  cancelCheck: (loop, { effectId }) => stop(loop, effectId),
  cancelTool: (loop, { effectId }) => stop(loop, effectId),
  cancelTimer: (loop, { effectId }) => stop(loop, effectId),
  publish: (loop, { signal }) => {
    const { host, threadId, state } = loop;
    host.observation.signal(signal, threadId);
    if (state === null) return;
    const ended = signal.type === "turn.ended" ? turnNumbered(state, signal.turn) : undefined;
    if (ended !== undefined) endTurn(loop, ended);
    announce(loop.asks, signal, state);
  },
};

/** Stops what an event answers: an answer may come from outside, to what is being done here as well. */
export const stopAnswered = (loop: LoopPort, event: Entry["event"]): void => {
  if (isAnswer(event)) stop(loop, event.effectId);
};

const isAnswer = (event: Entry["event"]): event is Extract<Entry["event"], { readonly effectId: string }> =>
  "effectId" in event && event.type !== "llm.progressed" && event.type !== "tool.started";

/** Stops what is being done under the id of an effect, if anything is. */
const stop = (loop: LoopPort, effectId: string): void => {
  loop.running.get(effectId)?.stop(null);
  loop.running.delete(effectId);
};

const startTimer = (loop: LoopPort, { id, dueAt, purpose }: StartTimer): void => {
  const { clock } = loop.host;
  const cancel = clock.wakeAt(dueAt, () => {
    loop.running.delete(id);
    // A deadline cuts a reply off without carrying what was shown of it, so that is journalled before.
    if (purpose === "deadline") loop.responding?.journalProgress();
    loop.post({ event: { type: "timer.fired", at: clock.now(), effectId: id }, sender: null });
  });
  loop.running.set(id, { stop: cancel });
};

const endStep = (loop: LoopPort, turn: number, step: number): void => {
  const { threadId, host } = loop;
  // After a crash it may have been shown before.
  if (loop.asks.recorder?.hasEndedStep(turn, step) !== true) loop.asks.emit(turn, { type: "step.ended", turn, step });
  host.observation.after("afterStep", { threadId, turn, step });
};

/** What a turn's end calls for beside the signal. */
const endTurn = (loop: LoopPort, turn: Turn): void => {
  const { threadId, host } = loop;
  if (turn.steps > 0) endStep(loop, turn.number, turn.steps);
  host.observation.after("afterTurn", { threadId, turn });
};
