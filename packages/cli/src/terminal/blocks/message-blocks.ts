import { contentText, type Message, type Part, type ToolResultPart, type Turn } from "@colloquy/machine";
import { outcomeText } from "../text/failure-text.ts";
import { figuresOf } from "../text/figures.ts";
import { markdownBlocks } from "../markdown/markdown-stream.ts";
import type { Block } from "./block.ts";

/** Converts messages to the blocks that were shown while they streamed; a call and its result are one block. */
export const messageBlocks = (messages: readonly Message[]): readonly Block[] => {
  const parts = messages.flatMap((message) => message.parts);
  const called = new Set(parts.map((part) => (part.type === "toolCall" ? part.callId : null)));
  const results = new Map(parts.flatMap((part) => (part.type === "toolResult" ? [[part.callId, part] as const] : [])));
  return messages.flatMap((message): readonly Block[] => {
    const said = message.parts.filter((part) => part.type !== "toolResult" || !called.has(part.callId));
    return [
      ...(message.role === "assistant" || message.role === "tool"
        ? said.map((part) => partBlock(part, results))
        : [{ type: "question", text: contentText(said), fate: "asked" } as const]),
      ...marksOf(message).map((mark): Block => ({ type: "notice", text: `(${mark})`, level: "warning" })),
    ];
  });
};

/** Returns the blocks at the end of a turn. */
export const endBlocks = (turn: Turn): readonly Block[] => {
  const failure = outcomeText(turn.outcome);
  return [
    ...(failure === "" ? [] : [{ type: "notice", text: failure, level: "error" } as const]),
    { type: "figures", text: figuresOf(turn) },
  ];
};

const partBlock = (part: Part, results: ReadonlyMap<string, ToolResultPart>): Block => {
  switch (part.type) {
    case "reasoning":
      return { type: "thinking", text: part.text };
    case "refusal":
      return { type: "refusal", text: part.text };
    case "toolCall":
      return { ...part, type: "tool", result: results.get(part.callId) ?? null };
    case "toolResult":
      return { ...part, type: "tool", arguments: "", result: part };
    default:
      return { type: "answer", markdown: markdownBlocks(contentText([part])) };
  }
};

const marksOf = ({ parts, incomplete, synthesised, truncated }: Message): readonly string[] => [
  ...(parts.length === 0 ? ["empty"] : []),
  ...(incomplete === true ? ["it ended early"] : []),
  ...(synthesised === true ? ["made so that the thread stays whole"] : []),
  ...(truncated === undefined ? [] : [`cut from ${truncated.characters} characters`]),
];
