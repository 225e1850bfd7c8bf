import { messageFromDraft } from "../../thread/draft.ts";
import type { Content, Message, MessageDraft } from "../../thread/message.ts";
import type { Ask } from "../../thread/turn.ts";
import type { QueuedAsk } from "../protocol/data.ts";
import type { State } from "../protocol/state.ts";

/** Returns the messages of an ask. */
export const draftsOf = (ask: Pick<QueuedAsk, "input" | "name" | "metadata">): readonly MessageDraft[] => {
  const { input } = ask;
  if (isDrafts(input)) return input;
  const draft: MessageDraft = { role: "user", content: input };
  return [
    {
      ...draft,
      ...(ask.name === undefined ? {} : { name: ask.name }),
      ...(ask.metadata === undefined ? {} : { metadata: ask.metadata }),
    },
  ];
};

/**
 * Returns the messages of the asks that wait, oldest first: those that join the open turn, and those in the queue. Each
 * gets another id when its turn takes it.
 */
export const waitingMessages = ({ context: { open, queue } }: State): readonly Message[] =>
  [...(open?.joining ?? []), ...queue].flatMap((ask) =>
    draftsOf(ask).map((draft, index) => messageFromDraft(`${ask.askId}.${index}`, draft)),
  );

/** Returns the turn's record of an ask that brings the messages of these drafts. */
export const askBringing = ({ askId, at }: Pick<QueuedAsk, "askId" | "at">, drafts: readonly MessageDraft[]): Ask =>
  drafts.length === 1 ? { askId, askedAt: at } : { askId, askedAt: at, messages: drafts.length };

/** Returns whether an ask's input is whole messages. */
export const isDrafts = (input: Content | readonly MessageDraft[]): input is readonly MessageDraft[] =>
  typeof input !== "string" && input.every((item) => "role" in item && !("type" in item));
