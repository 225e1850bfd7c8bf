import * as Either from "fp-ts/lib/Either.js";
import { toArray } from "../../thread/chunks.ts";
import type { Message } from "../../thread/message.ts";
import { isOnPath, turnOf } from "../../thread/path.ts";
import type { Thread } from "../../thread/thread.ts";
import type { ConversationData } from "../protocol/data.ts";
import type { MessagePinned } from "../protocol/event.ts";
import type { Decided } from "../protocol/entry.ts";
import { messagesOfOpen } from "../read/turns.ts";
import { type Refusal, refuse } from "../protocol/refusal.ts";

/** Decides whether a message may be pinned. It must be on the path. */
export const decidePin = (
  data: ConversationData,
  { message, pinned }: MessagePinned,
): Either.Either<Refusal, Decided> => {
  const { conversation, open } = data;
  if (!pinned) {
    return conversation.pins.some((pin) => pin.message === message)
      ? Either.right({})
      : refuse("unknown", `message "${message}" is not pinned`);
  }
  const number = Number.parseInt(message, 10);
  const next = number === conversation.turns.length + 1;
  const said = next
    ? [...conversation.appended, ...(open === null ? [] : messagesOfOpen(open))]
    : closedMessages(conversation, number);
  return said.some(({ id }) => id === message)
    ? Either.right({})
    : refuse("unknown", `there is no message "${message}" on the path; messagesOf lists them`);
};

const closedMessages = (thread: Thread, number: number): readonly Message[] => {
  if (number === 0) return thread.seed;
  const turn = isOnPath(thread, number) ? turnOf(thread, number) : undefined;
  return turn === undefined ? [] : toArray(turn.messages);
};
