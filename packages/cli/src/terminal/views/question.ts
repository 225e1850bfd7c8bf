import { type Chunks, contentText, type Message, toArray } from "@colloquy/machine";
import { oneLine } from "../text/printable.ts";

/** Returns the question of a turn in one line; without a question, its first words. */
export const questionIn = (messages: Chunks<Message>): string => {
  const all = toArray(messages);
  const [first] = all;
  const asked = all.find(({ role }) => role === "user") ?? first;
  if (asked === undefined) return "";
  const words = oneLine(contentText(asked.parts));
  return asked.role === "user" ? words : `${asked.role}: ${words}`;
};
