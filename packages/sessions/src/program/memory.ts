import { contentText, type Message } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import { type Fields, fieldsOf } from "./fields.ts";

/** One recorded call of a program. */
export interface Exchange {
  /** The number of its turn; 0 for what a session was seeded with. */
  readonly turn: number;
  readonly inputs: Fields;
  readonly outputs: Fields;
  /** The messages that carry them. */
  readonly messages: readonly Message[];
}

/** What a program sees of the calls before: frozen, and never changed afterwards. */
export interface Memory {
  /** Those that are shown whole, oldest first. */
  readonly exchanges: readonly Exchange[];
  /** All of it, as the prompt of a model would have it. */
  readonly messages: readonly Message[];
  /** A line for each turn, `[Turn 3] …`; `No prior conversation context.` where there is none. */
  readonly text: string;
}

/** What the messages of a prompt come to, the open turn left aside. */
export const memoryOf = (messages: readonly Message[]): Memory => {
  const exchanges = exchangesIn(messages);
  const lines = exchanges.map(lineOf);
  return frozenCopy({
    exchanges,
    messages,
    text: lines.length === 0 ? "No prior conversation context." : lines.join("\n"),
  });
};

const exchangesIn = (messages: readonly Message[]): readonly Exchange[] => {
  const exchanges: Exchange[] = [];
  for (const [place, message] of messages.entries()) {
    if (message.role !== "user" || message.synthesised === true) continue;
    const next = messages[place + 1];
    const answer = next?.role === "assistant" ? next : undefined;
    const [turn = 0] = message.id.split(".").map(Number);
    exchanges.push({
      turn: Number.isSafeInteger(turn) ? turn : 0,
      inputs: fieldsOf(message),
      outputs: fieldsOf(answer),
      messages: answer === undefined ? [message] : [message, answer],
    });
  }
  return exchanges;
};

const lineOf = ({ turn, messages }: Exchange): string =>
  `[Turn ${turn}] ${messages.map(({ role, parts }) => `${role === "user" ? "Asked" : "Answered"}: ${contentText(parts)}`).join(" ")}`;
