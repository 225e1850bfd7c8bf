// Measures the cost of immutable messages and events: each is copied when it arrives, and frozen when it is made.
import {
  conversationMachine,
  digestOfMessage,
  type Event,
  type Message,
  messageFromDraft,
  start,
  transition,
} from "@colloquy/machine";
import { plainCopy } from "@colloquy/machine/hosting";
import { type Figure, figureOf, pair } from "./kit/measure.ts";
import { userText } from "./kit/script.ts";

export const benchmark = async (rounds: number): Promise<readonly Figure[]> => [
  await ofMessages(rounds),
  await ofEvents(rounds),
];

const messages = 20_000;

/** Compares with the other costs of making a message, mostly its digest. */
const ofMessages = async (rounds: number): Promise<Figure> => {
  const drafts = Array.from({ length: messages }, (_, index) => userText(index));
  const measured = await pair(
    rounds,
    messages,
    () => drafts.map((content, index) => messageFromDraft(`1.${index}`, { role: "user", content })),
    () =>
      drafts.map((text, index): Message => {
        const message = { id: `1.${index}`, role: "user" as const, parts: [{ type: "text" as const, text }] };
        return { ...message, digest: digestOfMessage(message) };
      }),
  );
  return figureOf("a message / the same one that could be written to", measured, 2.5);
};

const events = 2_000;

/** Compares copying an event, which its holder may change later, with handling it. */
const ofEvents = async (rounds: number): Promise<Figure> => {
  const machine = conversationMachine();
  const { state } = start(machine, { threadId: "t", at: 0 });
  const received = Array.from({ length: events }, (_, index): Event => ({
    type: "ask.received",
    at: index,
    askId: `ask-${index}`,
    input: [{ type: "text", text: userText(index) }],
    metadata: { index },
  }));
  const measured = await pair(
    rounds,
    events,
    () => received.map((event) => plainCopy(event)),
    () => received.map((event) => transition(machine, state, event)),
  );
  return figureOf("the copy of an event / telling it", measured, 0.15);
};
