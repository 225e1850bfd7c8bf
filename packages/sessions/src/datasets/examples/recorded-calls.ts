import {
  type Chunks,
  type Entry,
  type JsonObject,
  type LaterEntry,
  type Message,
  messagesOf,
  outstanding,
  type State,
  toArray,
  turnNumbered,
} from "@colloquy/machine";
import { placeIn } from "@colloquy/machine/hosting";
import { foldVisiting, type JournalError } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";

/** A completed answering call of a journal, as it was made. */
export interface RecordedCall {
  readonly seq: number;
  readonly turn: number;
  readonly step: number;
  readonly prompt: readonly Message[];
  readonly reply: Message;
  /** The offered tools, by name and digest; null if the journal does not record them. */
  readonly offered: readonly { readonly name: string; readonly digest: string }[] | null;
  readonly model: JsonObject;
  /** The provider's finish reason. */
  readonly finishReason: string | null;
  /** The sent prompt is the one that the journal renders. */
  readonly isAsSent: boolean;
  /** A recovery wrote an entry of its turn before the reply. */
  readonly isRecovered: boolean;
  readonly isRedacted: boolean;
}

/** All such calls of a journal, and its final state. */
export interface RecordedCalls {
  /** In order. They include the replies of turns that were added whole; the seed is not included. */
  readonly calls: readonly RecordedCall[];
  readonly end: State;
}

/** Reads the calls of a journal, each with its prompt as the journal's own cuts render it. */
export const recordedCalls = (entries: readonly Entry[]): Either.Either<JournalError, RecordedCalls> => {
  const calls: RecordedCall[] = [];
  let recovered = 0;
  const end = foldVisiting(entries, (entry, before, after) => {
    const turn = before.context.open?.number ?? 0;
    if (entry.recovered === true) recovered = turn;
    const call = completedCall(entry, before, after, recovered === turn);
    if (call !== null) calls.push(call);
    if (entry.event.type === "turn.added") calls.push(...addedCalls(entry, after));
  });
  return Either.map((state: State) => ({ calls, end: state }))(end);
};

const completedCall = (
  { seq, event, redacted }: LaterEntry,
  before: State,
  after: State,
  isRecovered: boolean,
): RecordedCall | null => {
  const { open } = before.context;
  if (event.type !== "llm.completed" || open === null) return null;
  // The journal may be a fork with another id, so only the rest of the ids is compared.
  const call = outstanding(before).find(({ id }) => placeIn(id) === placeIn(event.effectId));
  if (call?.type !== "callLlm" || call.purpose !== "answer") return null;
  const reply = saidIn(after, open.number)
    .slice(open.messages.length)
    .find(({ role }) => role === "assistant");
  if (reply === undefined) return null;
  return {
    seq,
    turn: open.number,
    step: open.step,
    prompt: call.messages,
    reply,
    offered: call.tools ?? null,
    model: call.model,
    finishReason: event.finishReason,
    isAsSent: event.promptDigest === undefined || event.promptDigest === call.promptDigest,
    isRecovered,
    isRedacted: redacted === true,
  };
};

/** Returns the replies of a turn that was added whole; the prompt of each is all messages before it. */
const addedCalls = ({ seq, redacted }: LaterEntry, after: State): readonly RecordedCall[] => {
  const { conversation, model } = after.context;
  const turn = conversation.turns.length;
  const messages = saidIn(after, turn);
  const path = messagesOf(after);
  const earlier = [
    ...(conversation.system === null ? [] : [conversation.system]),
    ...path.slice(0, path.length - messages.length),
  ];
  const replies = messages.flatMap(({ role }, index) => (role === "assistant" ? [index] : []));
  return replies.flatMap((place, index) => {
    const reply = messages[place];
    if (reply === undefined) return [];
    const prompt = [...earlier, ...messages.slice(0, place)];
    const same = { seq, turn, model, offered: null, finishReason: null, isAsSent: true, isRecovered: false };
    return [{ ...same, step: index + 1, prompt, reply, isRedacted: redacted === true }];
  });
};

const saidIn = (state: State, number: number): readonly Message[] => {
  const { open } = state.context;
  const said: Chunks<Message> | undefined =
    open?.number === number ? open.messages : turnNumbered(state, number)?.messages;
  return said === undefined ? [] : toArray(said);
};
