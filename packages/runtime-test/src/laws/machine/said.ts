import {
  type AnswerableEffect,
  type AskReceived,
  type Message,
  outstanding,
  type ReplyDraft,
  type State,
  toArray,
} from "@colloquy/machine";
import { realSubject } from "../../arbitraries/subject.ts";
import { type HandledStep, handledSteps, type Trace } from "../../arbitraries/trace.ts";
import { deliveredBy } from "./steering.ts";
import { type MachineLaw, stepNamed, traceFor } from "./machine-law.ts";
import { requireSame } from "../evidence/law-broken.ts";
import {
  ofAsk,
  ofDraft,
  ofPartial,
  ofReply,
  ofSeed,
  partsOf,
  type Utterance,
  utterance,
  utteranceOf,
} from "../evidence/utterance.ts";

/**
 * Checks M9 for the whole tree: each message is in the thread once, whatever its outcome. The thread contains no other
 * messages except those marked as synthesised. The only allowed change is that a message's text becomes well-formed.
 * Messages are compared as a multiset, without ids. The comparison ends at a truncated turn, and at an open turn that
 * stays in the original thread of a fork.
 */
export const nothingLost: MachineLaw = (options, schedule, subject = realSubject) => {
  const trace = traceFor(options, schedule, subject);
  const said = saidAtFirst(trace);
  for (const [index, step] of handledSteps(trace).entries()) {
    const { type } = step.event;
    if (type === "answer.truncated" || (type === "thread.forked" && step.before.context.open !== null)) return;
    said.push(...saidBy(step), ...deliveredBy(step).flatMap(ofAsk));
    requireSame(
      "M9",
      `what was said by handled ${stepNamed(index, step.event)}`,
      heap(said),
      heap(heldBy(step.transition.state)),
    );
  }
};

const saidAtFirst = ({ started }: Trace): Utterance[] => (started.entry.event.seed ?? []).map(ofSeed);

const saidBy = (step: HandledStep): readonly Utterance[] => {
  const { event, before, transition } = step;
  const decided = transition.entry.decided ?? {};
  if (isOfSummary(step)) return [];
  switch (event.type) {
    case "ask.received":
      return saidByAsk(step, event);
    case "timer.fired": {
      if (before.context.open === null) return before.context.queue.slice(0, decided.opens ?? 1).flatMap(ofAsk);
      return decided.limit === undefined ? [] : shownAtEnd(step, undefined);
    }
    case "cancel.requested":
      return transition.state.context.open === null ? shownAtEnd(step, event.partial) : [];
    case "llm.completed":
      return [ofReply(event.reply)];
    case "llm.failed":
      return decided.retry === undefined ? shownAtEnd(step, event.partial) : [];
    case "tool.completed":
    case "tool.failed":
      return [utterance("tool", partsOf(event.content ?? []))];
    case "message.appended":
      return [ofDraft(event.message)];
    case "round.appended":
      return [ofReply(event.reply), ...event.results.map(({ content }) => utterance("tool", partsOf(content ?? [])))];
    case "turn.added":
      return event.messages.map(ofSeed);
    default:
      return [];
  }
};

/**
 * Returns the messages that an ask adds. A queued or joining ask adds none yet; an interrupting ask ends the running
 * call, which adds its shown part.
 */
const saidByAsk = (step: HandledStep, ask: AskReceived): readonly Utterance[] => {
  const { queued, joins, interrupts } = step.transition.entry.decided ?? {};
  if (interrupts === true) return shownAtEnd(step, undefined);
  return queued === undefined && joins === undefined ? ofAsk(ask) : [];
};

/** Returns whether an event answers a summary call. A summary is not a message of the conversation. */
const isOfSummary = ({ event, before }: HandledStep): boolean =>
  (event.type === "llm.completed" || event.type === "llm.failed") &&
  outstanding(before).some((effect) => effect.id === event.effectId && isSummary(effect));

const isSummary = (effect: AnswerableEffect): boolean => effect.type === "callLlm" && effect.purpose === "summary";

/** Returns the shown part of a stopped call, from the last event that reported it. */
const shownAtEnd = ({ before }: HandledStep, partial: ReplyDraft | undefined): readonly Utterance[] => {
  const stage = before.context.open?.stage;
  return stage?.type === "responding" ? ofPartial(partial ?? stage.call.partial ?? undefined) : [];
};

const heldBy = ({ context: { conversation, open } }: State): readonly Utterance[] => {
  const refused = toArray(conversation.turns).flatMap((turn) => turn.refusedOutputs ?? []);
  const running = open?.stage.type === "running" ? open.stage.calls.flatMap(({ result }) => result ?? []) : [];
  const messages: readonly Message[] = [
    ...conversation.seed,
    ...toArray(conversation.turns).flatMap((turn) => toArray(turn.messages)),
    ...refused.map(({ reply }) => reply),
    ...conversation.appended,
    ...(open === null ? [] : [...toArray(open.messages), ...running, ...open.waiting]),
  ];
  return messages.filter(({ synthesised }) => synthesised !== true).map(utteranceOf);
};

const heap = (utterances: readonly Utterance[]): readonly Utterance[] => [...utterances].sort();
