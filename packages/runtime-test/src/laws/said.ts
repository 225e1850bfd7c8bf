import {
  type AnswerableEffect,
  type Content,
  type Message,
  type MessageDraft,
  outstanding,
  type Part,
  type QueuedAsk,
  type ReplyDraft,
  type SeedDraft,
  type State,
  toArray,
} from "@colloquy/machine";
import { realSubject } from "../arbitraries/subject.ts";
import { type HandledStep, handledSteps, type Trace } from "../arbitraries/trace.ts";
import { type MachineLaw, requireSame, stepNamed, traceFor } from "./machine-law.ts";

/**
 * M9, of the whole tree: what was said stands in the thread once, whatever came of it, and nothing else does but
 * what is marked as synthesised. Compared as a heap, without ids; a turn that was truncated ends the comparison.
 */
export const nothingLost: MachineLaw = (options, schedule, subject = realSubject) => {
  const trace = traceFor(options, schedule, subject);
  const said = saidAtFirst(trace);
  for (const [index, step] of handledSteps(trace).entries()) {
    if (step.event.type === "answer.truncated") return;
    said.push(...saidBy(step));
    requireSame(
      "M9",
      `what was said by handled ${stepNamed(index, step.event)}`,
      heap(said),
      heap(heldBy(step.transition.state)),
    );
  }
};

/** Who said what, as text: equal for equal utterances. */
type Utterance = string;

const saidAtFirst = ({ started }: Trace): Utterance[] => (started.entry.event.seed ?? []).map(ofSeed);

const saidBy = (step: HandledStep): readonly Utterance[] => {
  const { event, before, transition } = step;
  const decided = transition.entry.decided ?? {};
  if (isOfSummary(step)) return [];
  switch (event.type) {
    case "ask.received":
      return decided.queued === undefined ? ofAsk(event) : [];
    case "timer.fired": {
      const [next] = before.context.queue;
      if (before.context.open === null) return next === undefined ? [] : ofAsk(next);
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
    case "turn.added":
      return event.messages.map(ofSeed);
    default:
      return [];
  }
};

/** What a model wrote about the conversation is no part of it. */
const isOfSummary = ({ event, before }: HandledStep): boolean =>
  (event.type === "llm.completed" || event.type === "llm.failed") &&
  outstanding(before).some((effect) => effect.id === event.effectId && isSummary(effect));

const isSummary = (effect: AnswerableEffect): boolean => effect.type === "callLlm" && effect.purpose === "summary";

/** What a call that was stopped had shown, as the last to speak of it said. */
const shownAtEnd = ({ before }: HandledStep, partial: ReplyDraft | undefined): readonly Utterance[] => {
  const stage = before.context.open?.stage;
  return stage?.type === "responding" ? ofPartial(partial ?? stage.call.partial ?? undefined) : [];
};

const heldBy = ({ context: { conversation, open } }: State): readonly Utterance[] => {
  const running = open?.stage.type === "running" ? open.stage.calls.flatMap(({ result }) => result ?? []) : [];
  const messages: readonly Message[] = [
    ...conversation.seed,
    ...toArray(conversation.turns).flatMap((turn) => toArray(turn.messages)),
    ...conversation.appended,
    ...(open === null ? [] : [...toArray(open.messages), ...running, ...open.waiting]),
  ];
  return messages
    .filter(({ synthesised }) => synthesised !== true)
    .map(({ role, parts }) => utterance(role, parts.flatMap(withoutIds)));
};

const ofAsk = ({ input }: Pick<QueuedAsk, "input">): readonly Utterance[] => {
  if (typeof input === "string") return [utterance("user", partsOf(input))];
  const drafts = input.filter((item) => "role" in item);
  return drafts.length === input.length
    ? drafts.map(ofDraft)
    : [
        utterance(
          "user",
          input.filter((item) => !("role" in item)),
        ),
      ];
};

const ofDraft = ({ role, content }: MessageDraft): Utterance => utterance(role, partsOf(content));

const ofSeed = (draft: SeedDraft): Utterance => {
  if (draft.role === "tool") return utterance("tool", partsOf(draft.content));
  return draft.role === "assistant" ? ofReply(draft) : ofDraft(draft);
};

const ofReply = ({ content, toolCalls = [] }: Pick<ReplyDraft, "content" | "toolCalls">): Utterance =>
  utterance("assistant", [
    ...(typeof content === "string" ? partsOf(content) : (content ?? [])),
    ...toolCalls.map((call) => ({ type: "toolCall", name: call.name, arguments: call.arguments, id: call.id })),
  ]);

/** Tool calls of a reply that ended early are not kept; a reply that showed nothing is no utterance. */
const ofPartial = (partial: ReplyDraft | undefined): readonly Utterance[] => {
  if (partial === undefined) return [];
  const { content } = partial;
  return content === undefined || content.length === 0 ? [] : [ofReply({ content })];
};

const withoutIds = (part: Part): readonly object[] => {
  if (part.type === "toolResult") return part.content;
  if (part.type !== "toolCall") return [part];
  return [{ type: part.type, name: part.name, arguments: part.arguments, id: part.providerCallId }];
};

const partsOf = (content: Content): readonly object[] => {
  if (typeof content !== "string") return content;
  return content === "" ? [] : [{ type: "text", text: content }];
};

const utterance = (role: string, parts: readonly object[]): Utterance => `${role} ${JSON.stringify(parts)}`;

const heap = (utterances: readonly Utterance[]): readonly Utterance[] => [...utterances].sort();
