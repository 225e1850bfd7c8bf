import type { AnswerableEffect, CallTool, State, ToolFailed } from "@colloquy/machine";
import { configurationOfMachine, outstanding } from "@colloquy/machine";
import type { Equipment } from "../equipment.ts";
import type { ThreadLoop } from "./loop.ts";
import type { Mail } from "./mail.ts";
import { perform } from "./perform.ts";

/**
 * Takes up what a thread was doing when it was last put down: a model is called again, a timer is set again, a
 * tool is dealt with as it declared. The mails are what the machine is to be told before anything else.
 */
export const recover = (loop: ThreadLoop, state: State): readonly Mail[] => {
  const { equipment } = loop;
  const at = equipment.clock.now();
  const mails: Mail[] = [...changedConfiguration(equipment, state, at)];
  const effects = outstanding(state);
  // A turn whose time has passed ends at once: nothing more is begun for it.
  const overdue = effects.some(
    (effect) => effect.type === "startTimer" && effect.purpose === "deadline" && effect.dueAt <= at,
  );
  for (const effect of effects) {
    if (overdue && isOfTurn(effect)) continue;
    const lost = effect.type === "callTool" ? lostCall(equipment, effect, at) : null;
    if (lost === null) perform(loop, effect);
    else mails.push({ event: lost, receipt: null, recovered: true });
  }
  return mails;
};

/** Summaries are no turn's: they go on whatever becomes of one. */
const isOfTurn = (effect: AnswerableEffect): boolean =>
  effect.type === "callTool" || (effect.type === "callLlm" && effect.purpose === "answer");

const changedConfiguration = ({ machine }: Equipment, { context }: State, at: number): readonly Mail[] => {
  const configuration = configurationOfMachine(machine);
  return configuration.fingerprint === context.configuration.fingerprint
    ? []
    : [{ event: { type: "thread.configured", at, configuration }, receipt: null }];
};

/** What is told in the place of a tool's answer; null when the tool runs, again or for the first time. */
const lostCall = ({ tools }: Equipment, call: CallTool, at: number): ToolFailed | null => {
  const recovery = tools.get(call.name)?.declaration.recovery ?? "interrupted";
  if (recovery === "rerun" || (recovery === "once" && !call.started)) return null;
  return {
    type: "tool.failed",
    at,
    effectId: call.id,
    outcome: recovery === "once" ? "unknown" : "interrupted",
    content: recovery === "once" ? outcomeUnknown : interrupted,
  };
};

const interrupted =
  "The call was interrupted: the process that ran it stopped before it answered. " +
  "Call the tool again if its result is still needed.";

const outcomeUnknown =
  "The call was started, and the process that ran it stopped before it answered: it may or may not have taken " +
  "effect. It was not run again. Find out what happened before repeating it.";
