import { contentText, type Message, type Part, toArray, type Turn } from "@colloquy/machine";
import type { Block, ToolBlock } from "./block.ts";

/** What a closed turn shows, as it would have been shown while it went on. */
export const blocksOfTurn = (turn: Turn): readonly Block[] => {
  const messages = toArray(turn.messages);
  const results = new Map(
    messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "toolResult" ? [[part.callId, part] as const] : [])),
    ),
  );
  return messages.flatMap((message): readonly Block[] => {
    if (message.role === "user") return [{ type: "question", text: contentText(message.parts), fate: "asked" }];
    return message.role === "assistant" ? message.parts.flatMap((part) => blockOfPart(part, results)) : [];
  });
};

type Results = ReadonlyMap<string, Extract<Message["parts"][number], { readonly type: "toolResult" }>>;

const blockOfPart = (part: Part, results: Results): readonly Block[] => {
  switch (part.type) {
    case "reasoning":
      return part.text === "" ? [] : [{ type: "thinking", text: part.text }];
    case "refusal":
      return [{ type: "refusal", text: part.text }];
    case "toolCall": {
      const result = results.get(part.callId);
      const tool: ToolBlock = {
        type: "tool",
        callId: part.callId,
        name: part.name,
        arguments: part.arguments,
        result: result === undefined ? null : { outcome: result.outcome, content: result.content },
      };
      return [tool];
    }
    case "toolResult":
      return [];
    default:
      return [{ type: "answer", markdown: contentText([part]) }];
  }
};
