import { type Chunks, contentText, type Message, type Part, toArray, type Turn } from "@colloquy/machine";
import { failureWords } from "./outcome-words.ts";
import { figuresOf } from "../text/figures.ts";
import type { Line, Role } from "../text/line.ts";
import { oneLine } from "../text/printable.ts";
import { span, wrapped } from "./fitted.ts";

/** A message with all its parts, and what there is to say at the end of its turn. */
export const messageLines = (
  { message, turn, ends }: { readonly message: Message; readonly turn: number; readonly ends: Turn | null },
  columns: number,
): readonly Line[] => [
  ...(message.role === "tool" ? [] : [[]]),
  ...(message.role === "tool" || message.role === "assistant" ? [] : [titleOf(message, turn)]),
  ...message.parts.flatMap((part) => partLines(message, part, columns)),
  ...(message.parts.length === 0 ? [[span("(empty)", "dim")]] : []),
  ...marksOf(message).map((mark): Line => [span(`  (${mark})`, "warning")]),
  ...(ends === null ? [] : endLines(ends, columns)),
];

/** All that it says, for a search. */
export const messageText = ({ message }: { readonly message: Message }): string =>
  message.parts.map(partText).join("\n");

/** What a turn was asked, in one line; of one without a question, its first words. */
export const questionIn = (messages: Chunks<Message>): string => {
  const all = toArray(messages);
  const [first] = all;
  const asked = all.find(({ role }) => role === "user") ?? first;
  if (asked === undefined) return "";
  const words = oneLine(contentText(asked.parts));
  return asked.role === "user" ? words : `${asked.role}: ${words}`;
};

const titleOf = ({ role, name }: Message, turn: number): Line => [
  ...(turn === 0 ? [] : [span(`${turn} `, "number")]),
  span(role === "user" ? (name ?? "you") : role, "heading"),
];

const partLines = ({ role }: Message, part: Part, columns: number): readonly Line[] => {
  switch (part.type) {
    case "text":
      return role === "user"
        ? block(part.text, "> ", "  ", "strong", columns)
        : block(part.text, "", "", "plain", columns);
    case "reasoning":
      return block(part.text.trim(), "· ", "· ", "dim", columns);
    case "refusal":
      return block(part.text, "", "", "warning", columns);
    case "toolCall":
      return block(`${oneLine(part.name)} ${part.arguments}`, "● ", "  ", "name", columns);
    case "toolResult": {
      const failed = part.outcome === "completed" ? "" : `${part.outcome}: `;
      return block(failed + contentText(part.content), "  └ ", "    ", failed === "" ? "dim" : "warning", columns);
    }
    default:
      return block(contentText([part]), "", "", "plain", columns);
  }
};

const partText = (part: Part): string => {
  switch (part.type) {
    case "reasoning":
      return part.text;
    case "toolCall":
      return `${part.name} ${part.arguments}`;
    case "toolResult":
      return contentText(part.content);
    default:
      return contentText([part]);
  }
};

/** A text behind a mark, its other lines below it. */
const block = (text: string, first: string, other: string, role: Role, columns: number): readonly Line[] =>
  wrapped(text, columns - first.length).map((line, index) => [
    { text: index === 0 ? first : other, roles: ["dim"] },
    span(line, role),
  ]);

const marksOf = ({ incomplete, synthesised, truncated }: Message): readonly string[] => [
  ...(incomplete === true ? ["it ended early"] : []),
  ...(synthesised === true ? ["made so that the thread stays whole"] : []),
  ...(truncated === undefined ? [] : [`cut from ${truncated.characters} characters`]),
];

const endLines = (turn: Turn, columns: number): readonly Line[] => [
  ...wrapped(failureWords(turn.outcome), columns)
    .filter((line) => line !== "")
    .map((line): Line => [span(line, "error")]),
  [span(figuresOf(turn), "dim")],
];
