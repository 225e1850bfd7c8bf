import type { DecodedChat } from "../../../src/llm/reply/chat-answer.ts";
import { decodeChatStream } from "../../../src/llm/reply/chat-answer.ts";

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** An event of a stream with a chunk that brings this. */
export const chunkOf = (delta: object, rest: object = {}): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, ...rest }] })}\n\n`;

/** What the events of a stream come to. */
export const decode = (...events: readonly string[]): Promise<DecodedChat> =>
  decodeChatStream(bytesOf(events.join("")));

/** A tool call as it stands in a message. */
export const callOf = (id: string | null, name: string, given: string): object => ({
  id,
  type: "function",
  function: { name, arguments: given },
});
