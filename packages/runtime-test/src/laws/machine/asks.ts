import type { Effect } from "@colloquy/machine";
import { realSubject } from "../../arbitraries/subject.ts";
import { type HandledStep, handledSteps } from "../../arbitraries/trace.ts";
import { asksIn } from "../evidence/asks-in.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { type MachineLaw, stepNamed, traceFor } from "./machine-law.ts";

/**
 * Checks M11: no ask is lost, and none is answered twice. Each accepted ask is in exactly one place: queued, joining
 * the open turn, in a turn, or dropped. A queued or joining ask moves to a turn or is dropped, and then stays there.
 * There are two exceptions. One of several asks of an open turn may be withdrawn. An ask whose turn stays in the
 * original thread of a fork is dropped as left.
 */
export const accounted: MachineLaw = (options, schedule, subject = realSubject) => {
  const accepted: string[] = [];
  let before = asksIn(null);
  for (const [index, step] of handledSteps(traceFor(options, schedule, subject)).entries()) {
    const name = `handled ${stepNamed(index, step.event)}`;
    const { event } = step;
    if (event.type === "ask.received") accepted.push(event.askId);
    const after = asksIn(step.transition.state);
    requireSame(
      "M11",
      `the asks that are accounted for after ${name}`,
      [...accepted].sort(),
      after.map(({ askId }) => askId).sort(),
    );
    for (const { askId, place, turn } of after) {
      const was = before.find((ask) => ask.askId === askId);
      if (was === undefined || (was.place === place && was.turn === turn)) continue;
      const moves = [was.place, place].join(" to ");
      if (place === "turn" ? was.place === "turn" : !mayMove(moves, step, askId))
        throw new LawBroken("M11", `${name} moves ask "${askId}" from ${moves}`);
    }
    requireNotices(step, name);
    before = after;
  }
};

const mayMove = (moves: string, { event, before, transition }: HandledStep, askId: string): boolean => {
  if (moves === "queued to dropped" || moves === "joining to dropped") return true;
  const because = transition.state.context.dropped.find((ask) => ask.askId === askId)?.because;
  if (moves !== "turn to dropped") return false;
  const [was, is] = [before.context.open, transition.state.context.open];
  if (because === "withdrawn")
    return event.type === "cancel.requested" && event.askId === askId && was !== null && is?.number === was.number;
  return because === "left" && event.type === "thread.forked";
};

/** Checks that the caller is notified of the ask's outcome. A fork has no caller, so it sends no notice. */
const requireNotices = ({ event, before, transition }: HandledStep, name: string): void => {
  if (event.type === "thread.forked") return;
  const effects: readonly Effect[] = transition.effects;
  const notices = effects.flatMap((effect) =>
    effect.type === "publish" && "askId" in effect.signal ? [`${effect.signal.type} ${effect.signal.askId}`] : [],
  );
  const known = new Set(before.context.dropped.map(({ askId }) => askId));
  const expected = transition.state.context.dropped
    .filter(({ askId }) => !known.has(askId))
    .map(({ askId, because }) => `ask.${because} ${askId}`);
  const dropped = notices.filter((words) => /^ask\.(?:withdrawn|superseded|returned) /u.test(words));
  requireSame("M11", `what askers are notified of by ${name}`, [...expected].sort(), [...dropped].sort());
};
