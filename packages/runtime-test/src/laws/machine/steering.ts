import { type CallLlm, type Effect, type Message, type OpenTurn, type QueuedAsk, toArray } from "@colloquy/machine";
import { realSubject } from "../../arbitraries/subject.ts";
import { type HandledStep, handledSteps } from "../../arbitraries/trace.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { type MachineLaw, stepNamed, traceFor } from "./machine-law.ts";
import { ofAsk, utteranceOf } from "../evidence/utterance.ts";

/**
 * Checks M12: an ask that joins a turn is shown before it counts as delivered. While it is joining, no prompt shows it.
 * It becomes one of the turn's asks by the entry that requests the first call whose prompt shows it. A signal reports
 * it as delivered in that call. If the turn ends earlier, the ask is requeued.
 */
export const shownBeforeDelivered: MachineLaw = (options, schedule, subject = realSubject) => {
  for (const [index, step] of handledSteps(traceFor(options, schedule, subject)).entries()) {
    const name = `handled ${stepNamed(index, step.event)}`;
    const { before, transition } = step;
    const joining = before.context.open?.joining ?? [];
    const { open, dropped } = transition.state.context;
    requireDelivered(step, deliveredBy(step), name);
    if (open !== null && open.number === before.context.open?.number) continue;
    for (const { askId } of joining) {
      const because = dropped.find((ask) => ask.askId === askId)?.because;
      if (because !== "returned" && step.event.type !== "thread.forked")
        throw new LawBroken(
          "M12",
          `${name} ends the turn that "${askId}" joined, and it is ${because ?? "not given back"}`,
        );
    }
  }
};

/** Returns the joining asks of the open turn that become asks of the turn in a step. */
export const deliveredBy = ({ before, transition }: HandledStep): readonly QueuedAsk[] => {
  const [was, is] = [before.context.open, transition.state.context.open];
  if (was === null || is?.number !== was.number) return [];
  return was.joining.filter(({ askId }) => is.asks.some((ask) => ask.askId === askId));
};

const requireDelivered = (step: HandledStep, delivered: readonly QueuedAsk[], name: string): void => {
  const { before, transition } = step;
  const { open } = transition.state.context;
  const effects: readonly Effect[] = transition.effects;
  const notices = effects.flatMap((effect) =>
    effect.type === "publish" && effect.signal.type === "ask.delivered" ? [effect.signal] : [],
  );
  requireSame(
    "M12",
    `the asks that ${name} reports as delivered`,
    delivered.map(({ askId }) => askId),
    notices.map(({ askId }) => askId),
  );
  if (delivered.length === 0 || open === null) return;
  const call = effects.find((effect): effect is CallLlm => effect.type === "callLlm" && effect.purpose === "answer");
  if (call === undefined) throw new LawBroken("M12", `${name} delivers "${delivered[0]?.askId}", and calls no model`);
  for (const { askId, turn, step: number } of notices) {
    if (turn !== call.turn || number !== call.step)
      throw new LawBroken(
        "M12",
        `${name} reports that "${askId}" is delivered in step ${turn}.${number}, not in ${call.id}`,
      );
  }
  const added = addedTo(before.context.open, open);
  const said = delivered.flatMap(ofAsk);
  requireSame("M12", `what ${name} adds to the turn`, said, added.slice(added.length - said.length).map(utteranceOf));
  const shown = new Set(call.messages.map(({ id }) => id));
  const missing = added.find(({ id }) => !shown.has(id));
  if (missing !== undefined)
    throw new LawBroken("M12", `${name} delivers message ${missing.id}, which the prompt of ${call.id} does not show`);
};

/** Returns the messages that were added to the open turn. */
const addedTo = (before: OpenTurn | null, open: OpenTurn): readonly Message[] => {
  const known = new Set(before === null ? [] : toArray(before.messages).map(({ id }) => id));
  return toArray(open.messages).filter(({ id }) => !known.has(id));
};
