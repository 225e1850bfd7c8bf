import * as Either from "fp-ts/lib/Either.js";
import { marked, messageFromDraft, messageFromReply, messageFromResult, withParts } from "../../thread/make-message.ts";
import { frozen } from "../../thread/plain-data.ts";
import { append, at, chunksOf, extended, replaceAt, toArray } from "../../thread/chunks.ts";
import {
  type Message,
  type MessageDraft,
  type Part,
  type SystemDraft,
  textOf,
  toolCallsOf,
} from "../../thread/message.ts";
import { changeTurn, placeAfter, type Thread, turnOf, withAppended, withoutAppended } from "../../thread/thread.ts";
import { messagesFromSeed } from "../../thread/seed.ts";
import type { Annotation, Turn } from "../../thread/turn.ts";
import { noUsage } from "../../thread/usage.ts";
import type { ConversationData, OpenTurn } from "../protocol/data.ts";
import { redactedText } from "../protocol/form.ts";
import type {
  AnswerTruncated,
  AppendedResult,
  HeadMoved,
  MessagePinned,
  RoundAppended,
  ThreadConfigured,
  TurnAdded,
  TurnAnnotated,
} from "../protocol/event.ts";

/** Appends a message to the thread: at once, or, while a call or a tool is outstanding, afterwards. */
export const appendMessage = (data: ConversationData, draft: MessageDraft): ConversationData => {
  const { turn, made } = nextPlace(data);
  return appended(data, [messageFromDraft(`${turn}.${made}`, draft)]);
};

/** Appends a whole round in the same way. Its calls have their own ids, apart from those of the turn's steps. */
export const appendRound = (data: ConversationData, { reply, results, metadata }: RoundAppended): ConversationData => {
  const { turn, made } = nextPlace(data);
  const said = messageFromReply(`${turn}.${made}`, `${turn}${roundMark}${made}`, reply);
  const answers = toolCallsOf(said).map((call, position) => {
    const { outcome, content } = results[position] ?? noResult;
    return messageFromResult(call, outcome, content);
  });
  return appended(data, [metadata === undefined ? said : frozen({ ...said, metadata }), ...answers]);
};

/** Returns whether a message asks for the tools of an appended round. The ids of its calls tell. */
export const asksForAppendedRound = (message: Message): boolean =>
  toolCallsOf(message)[0]?.callId.includes(roundMark) === true;

/** Marks the ids of such calls, between the turn and the message. */
const roundMark = ".r";

/** A round without all results is refused when it is decided; in a journal that has one, this stands in. */
const noResult: AppendedResult = { outcome: "unknown", content: null };

/** Returns the turn of the next appended message, and the number of messages that the turn made before. */
const nextPlace = ({ open, conversation }: ConversationData): { readonly turn: number; readonly made: number } =>
  open === null
    ? { turn: conversation.turns.length + 1, made: conversation.appended.length }
    : { turn: open.number, made: open.made };

const appended = (data: ConversationData, messages: readonly Message[]): ConversationData => {
  const { open, conversation } = data;
  if (open === null) return { ...data, conversation: withAppended(conversation, messages) };
  const made = open.made + 1;
  return {
    ...data,
    open:
      open.stage.type === "backing_off" || open.stage.type === "compacting"
        ? { ...open, made, messages: messages.reduce((all, message) => append(all, message), open.messages) }
        : { ...open, made, waiting: extended(open.waiting, messages) },
  };
};

/** Changes the system prompt. Outstanding calls keep the one that they were sent with. */
export const changeSystem = (thread: Thread, system: SystemDraft | null): Thread => {
  const systems = thread.systems + 1;
  return { ...thread, systems, system: system === null ? null : systemMessage(systems, system) };
};

export const resetSystem = (thread: Thread): Thread => {
  const systems = thread.systems + 1;
  const { firstSystem } = thread;
  return { ...thread, systems, system: firstSystem === null ? null : marked(firstSystem, { id: `s${systems}` }) };
};

export const systemMessage = (revision: number, system: SystemDraft): Message =>
  messageFromDraft(`s${revision}`, typeof system === "string" ? { role: "system", content: system } : system);

/** Adds a turn written by hand, after the appended messages, and moves the head to it. */
export const addTurn = (thread: Thread, event: TurnAdded): Thread => {
  const number = thread.turns.length + 1;
  const written = messagesFromSeed(number, event.messages, thread.appended.length);
  // Invalid drafts are refused when they are decided. In a journal that contains them, the turn stays empty.
  const messages = Either.isRight(written) ? written.right : [];
  return closedTurn(thread, [...thread.appended, ...messages], event.at, event.metadata);
};

/** Turns the messages appended since the last turn into a turn, so that the head can move without losing them. */
export const sealAppended = (thread: Thread, at: number): Thread =>
  thread.appended.length === 0 ? thread : closedTurn(thread, thread.appended, at, undefined);

export const moveHead = (thread: Thread, event: Pick<HeadMoved, "at" | "to">): Thread => {
  const sealed = sealAppended(thread, event.at);
  const to = typeof event.to === "number" ? event.to : checkpointOf(sealed, event.to.checkpoint);
  return to !== undefined && (to === 0 || turnOf(sealed, to) !== undefined) ? { ...sealed, head: to } : sealed;
};

/** Returns the head that a checkpoint names. A name may equal a member that every object has. */
export const checkpointOf = (thread: Thread, name: string): number | undefined =>
  Object.hasOwn(thread.checkpoints, name) ? thread.checkpoints[name] : undefined;

export const nameCheckpoint = (thread: Thread, name: string, at: number): Thread => {
  const sealed = sealAppended(thread, at);
  return { ...sealed, checkpoints: { ...sealed.checkpoints, [name]: sealed.head } };
};

export const annotate = (thread: Thread, event: TurnAnnotated): Thread =>
  changeTurn(thread, event.turn, (turn) => ({
    ...turn,
    annotations: [...(turn.annotations ?? []), annotationOf(event)],
  }));

/** Truncates a turn's last answer to `kept` UTF-16 units of its text. */
export const truncateAnswer = (thread: Thread, event: AnswerTruncated, kept: number): Thread => {
  const turn = turnOf(thread, event.turn);
  if (turn === undefined) return thread;
  const index = answerIndexOf(turn);
  const answer = at(turn.messages, index);
  if (answer === undefined) return thread;
  const spoken = truncated(answer, kept);
  const changed = changeTurn(thread, event.turn, () => ({
    ...turn,
    messages: replaceAt(turn.messages, index, spoken),
  }));
  return shortened(changed, event.turn, textOf(answer).length - textOf(spoken).length);
};

export const pinMessage = (thread: Thread, { message, pinned }: MessagePinned): Thread => {
  const others = thread.pins.filter((pin) => pin.message !== message);
  const turn = Number.parseInt(message, 10);
  if (Number.isNaN(turn)) return thread;
  return { ...thread, pins: pinned ? [...others, { turn, message }] : others };
};

export const configure = (data: ConversationData, event: ThreadConfigured): ConversationData => ({
  ...data,
  configuration: event.configuration,
  model: event.model ?? data.model,
  // Another counter may count differently.
  measured: null,
  room: null,
  open: data.open === null ? null : uncounted(data.open),
});

const uncounted = (open: OpenTurn): OpenTurn =>
  open.stage.type === "responding"
    ? { ...open, stage: { ...open.stage, call: { ...open.stage.call, counted: null } } }
    : open;

/**
 * Applies a redaction to the data. Summaries of redacted content become stale and are no longer shown. The measured
 * size is dropped, since it was measured on the old content. The content itself is removed by rewriting its entries
 * and folding them.
 */
export const redact = (data: ConversationData): ConversationData => {
  const after = data.measured === null ? data : { ...data, measured: null };
  if (data.summaries === 0) return after;
  const conversation = toArray(data.conversation.turns)
    .filter(({ summaries }) => summaries?.some(({ text }) => saysNothing(text)) === true)
    .reduce((thread, { number }) => changeTurn(thread, number, withdrawn), data.conversation);
  return { ...after, conversation };
};

/** Returns whether a summary is only redacted text. It may have been written in several parts. */
const saysNothing = (text: string): boolean =>
  text.includes(redactedText) && text.replaceAll(redactedText, "").trim() === "";

const withdrawn = (turn: Turn): Turn => ({
  ...turn,
  summaries:
    turn.summaries?.map((summary) => (saysNothing(summary.text) ? { ...summary, stale: true } : summary)) ?? [],
});

/** Returns the index of the message with which a model ended a turn, or -1. */
export const answerIndexOf = (turn: Turn): number => toArray(turn.messages).findIndex(({ id }) => id === turn.answer);

/**
 * Subtracts characters from a turn's size, and so from every path through it. The newest turn records this itself. For
 * an older turn the thread records it, so that the turns after it do not change.
 */
const shortened = (thread: Thread, number: number, characters: number): Thread => {
  if (number === thread.turns.length) {
    return changeTurn(thread, number, (turn) => ({
      ...turn,
      place: { ...turn.place, characters: turn.place.characters - characters },
    }));
  }
  const before = thread.shortened.find(({ turn }) => turn === number)?.characters ?? 0;
  const others = thread.shortened.filter(({ turn }) => turn !== number);
  return { ...thread, shortened: [...others, { turn: number, characters: before + characters }] };
};

const closedTurn = (
  thread: Thread,
  messages: readonly Message[],
  at: number,
  metadata: TurnAdded["metadata"],
): Thread => {
  const number = thread.turns.length + 1;
  const answer = messages.findLast((message) => message.role === "assistant" && toolCallsOf(message).length === 0);
  const turn: Turn = {
    number,
    parent: thread.head,
    asks: [],
    outcome: { status: "completed", finishReason: null },
    messages: chunksOf(messages),
    usage: noUsage,
    steps: 0,
    toolCalls: 0,
    startedAt: at,
    endedAt: at,
    place: placeAfter(thread, thread.head, number, messages),
    ...(answer === undefined ? {} : { answer: answer.id }),
    ...(metadata === undefined ? {} : { metadata }),
  };
  return { ...withoutAppended(thread), turns: append(thread.turns, frozen(turn)), head: number };
};

const annotationOf = (event: TurnAnnotated): Annotation => ({
  name: event.name,
  value: event.value,
  at: event.at,
  ...(event.metadata === undefined ? {} : { metadata: event.metadata }),
});

const truncated = (answer: Message, kept: number): Message => {
  const parts: Part[] = [];
  let left = kept;
  for (const part of answer.parts) {
    if (part.type !== "text") parts.push(part);
    else if (left > 0) parts.push({ ...part, text: part.text.slice(0, left) });
    if (part.type === "text") left -= part.text.length;
  }
  const characters = answer.truncated?.characters ?? textOf(answer).length;
  return marked(withParts(answer, parts), { truncated: { characters } });
};
