import { canonicalText, type Message, type OpenTurn, type QueuedAsk, toArray, type Turn } from "@colloquy/machine";
import { answeringCallOf, effectsOf, type HandledStep } from "../../arbitraries/trace.ts";
import { asksIn } from "../evidence/asks-in.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { refusedMessages } from "../evidence/said-units.ts";
import { ofAsk, utteranceOf } from "../evidence/utterance.ts";
import { type MachineLaw, type NamedStep, namedSteps } from "./machine-law.ts";

/**
 * Checks M11: no ask is lost, and none is answered twice. Each accepted ask is in exactly one place: queued, joining
 * the open turn, in a turn, or dropped. A queued or joining ask moves to a turn or is dropped, and then stays there.
 * There are two exceptions. One of several asks of an open turn may be withdrawn. An ask whose turn stays in the
 * original thread of a fork is dropped as left.
 */
export const accounted: MachineLaw = (...given) => {
  const accepted: string[] = [];
  let before = asksIn(null);
  for (const step of namedSteps(...given)) {
    const { event, name, transition } = step;
    if (event.type === "ask.received") accepted.push(event.askId);
    const after = asksIn(transition.state);
    const ids = after.map(({ askId }) => askId).sort();
    requireSame("M11", `the asks that are accounted for after ${name}`, accepted.toSorted(), ids);
    for (const { askId, place, turn } of after) {
      const was = before.find((ask) => ask.askId === askId);
      if (was === undefined || (was.place === place && was.turn === turn)) continue;
      const moves = `${was.place} to ${place}`;
      if (place === "turn" ? was.place === "turn" : !mayMove(moves, step, askId))
        throw new LawBroken("M11", `${name} moves ask "${askId}" from ${moves}`);
    }
    requireNotices(step);
    before = after;
  }
};

/**
 * Checks M12: an ask that joins a turn is shown before it counts as delivered. While it is joining, no prompt shows it.
 * It becomes one of the turn's asks by the entry that requests the first call whose prompt shows it. A signal reports
 * it as delivered in that call. If the turn ends earlier, the ask is requeued.
 */
export const shownBeforeDelivered: MachineLaw = (...given) => {
  for (const step of namedSteps(...given)) {
    const { event, before, transition, name } = step;
    const { open, dropped } = transition.state.context;
    requireDelivered(step, deliveredBy(step));
    if (event.type === "thread.forked" || (open !== null && open.number === before.context.open?.number)) continue;
    for (const { askId } of before.context.open?.joining ?? []) {
      const because = dropped.find((ask) => ask.askId === askId)?.because ?? "not given back";
      if (because !== "returned")
        throw new LawBroken("M12", `${name} ends the turn that "${askId}" joined, and it is ${because}`);
    }
  }
};

/** Returns the joining asks of the open turn that become asks of the turn in a step. */
export const deliveredBy = ({ before, transition }: HandledStep): readonly QueuedAsk[] => {
  const [was, is] = [before.context.open, transition.state.context.open];
  if (was === null || is?.number !== was.number) return [];
  return was.joining.filter(({ askId }) => is.asks.some((ask) => ask.askId === askId));
};

const mayMove = (moves: string, { event, before, transition }: HandledStep, askId: string): boolean => {
  if (moves === "queued to dropped" || moves === "joining to dropped") return true;
  if (moves !== "turn to dropped") return false;
  const because = transition.state.context.dropped.find((ask) => ask.askId === askId)?.because;
  const [was, is] = [before.context.open, transition.state.context.open];
  if (because === "withdrawn")
    return event.type === "cancel.requested" && event.askId === askId && was !== null && is?.number === was.number;
  return because === "left" && event.type === "thread.forked";
};

/** Checks that the caller is notified of the ask's outcome. A fork has no caller, so it sends no notice. */
const requireNotices = ({ event, before, transition, name }: NamedStep): void => {
  if (event.type === "thread.forked") return;
  const known = new Set(before.context.dropped.map(({ askId }) => askId));
  const fresh = transition.state.context.dropped.filter(({ askId }) => !known.has(askId));
  const expected = fresh.map(({ askId, because }) => `ask.${because} ${askId}`);
  const notices = effectsOf(transition, "publish").flatMap(({ signal }) =>
    signal.type === "ask.withdrawn" || signal.type === "ask.superseded" || signal.type === "ask.returned"
      ? [`${signal.type} ${signal.askId}`]
      : [],
  );
  requireSame("M11", `what askers are notified of by ${name}`, expected.sort(), notices.toSorted());
};

const requireDelivered = ({ before, transition, name }: NamedStep, delivered: readonly QueuedAsk[]): void => {
  const { open } = transition.state.context;
  const notices = effectsOf(transition, "publish").flatMap(({ signal }) =>
    signal.type === "ask.delivered" ? [signal] : [],
  );
  const [ids, reported] = [delivered, notices].map((asks) => asks.map(({ askId }) => askId));
  requireSame("M12", `the asks that ${name} reports as delivered`, ids, reported);
  if (delivered.length === 0 || open === null) return;
  const call = answeringCallOf(transition);
  if (call === undefined) throw new LawBroken("M12", `${name} delivers "${delivered[0]?.askId}", and calls no model`);
  const wrong = notices.find(({ turn, step }) => turn !== call.turn || step !== call.step);
  if (wrong !== undefined) {
    const { askId, turn, step } = wrong;
    throw new LawBroken(
      "M12",
      `${name} reports that "${askId}" is delivered in step ${turn}.${step}, not in ${call.id}`,
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

const addedTo = (before: OpenTurn | null, open: OpenTurn): readonly Message[] => {
  const known = new Set(before === null ? [] : toArray(before.messages).map(({ id }) => id));
  return toArray(open.messages).filter(({ id }) => !known.has(id));
};

/**
 * Checks M13: a turn with an expected output completes only with an accepted answer, and contains exactly that. A
 * refused answer is repaired at most as often as allowed, each time in a new step; otherwise the turn fails. No prompt
 * of a later turn shows a refused answer.
 */
export const outputsHold: MachineLaw = (...given) => {
  for (const step of namedSteps(...given)) {
    const ended = endedBy(step);
    if (ended !== undefined) requireAccepted(step, ended);
    if (step.event.type === "output.refused") requireMended(step, ended);
    requireLeftOut(step);
  }
};

const endedBy = ({ before, transition }: HandledStep): Turn | undefined => {
  const turns = toArray(transition.state.context.conversation.turns);
  return turns.length > before.context.conversation.turns.length ? turns.at(-1) : undefined;
};

const requireAccepted = ({ event, before, name }: NamedStep, ended: Turn): void => {
  const wanted = before.context.open?.number === ended.number ? before.context.open.output : undefined;
  const accepted = event.type === "output.accepted" ? event.value : undefined;
  if (wanted !== undefined && ended.outcome.status === "completed" && accepted === undefined)
    throw new LawBroken("M13", `${name} completes a turn whose output nobody accepted`);
  requireSame("M13", `the output of the turn that ${name} ends`, accepted, ended.output?.value);
};

const requireMended = ({ before, transition, name }: NamedStep, ended: Turn | undefined): void => {
  const [was, is] = [before.context.open, transition.state.context.open];
  const refused = (is ?? ended)?.refusedOutputs?.length ?? 0;
  requireSame("M13", `how many answers ${name} has refused`, (was?.refusedOutputs?.length ?? 0) + 1, refused);
  if (is === null) return;
  if (refused > (was?.output?.repairs ?? 0))
    throw new LawBroken("M13", `${name} has the model mend its answer a ${refused}. time, which was not allowed`);
  const steps = is.stage.type === "compacting" ? is.step + 1 : is.step;
  requireSame("M13", `the step that ${name} begins`, (was?.step ?? 0) + 1, steps);
};

/** Closed turns no longer contain their refused answers and repair requests. */
const requireLeftOut = ({ transition, name }: NamedStep): void => {
  const closed = toArray(transition.state.context.conversation.turns);
  const refused = new Set(closed.flatMap(refusedMessages).map(({ id }) => id));
  for (const call of effectsOf(transition, "callLlm")) {
    const shown = call.messages.find(({ id }) => refused.has(id));
    if (shown !== undefined)
      throw new LawBroken("M13", `${name} shows ${call.id} an answer that was refused: ${canonicalText(shown)}`);
  }
};
