import { decodeChatStream, type DecodedChat } from "../../../src/llm/reply/chat-answer.ts";

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Returns a stream event with a chunk of this delta. */
export const chunkOf = (delta: object, rest: object = {}): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, ...rest }] })}\n\n`;

/** Decodes the events of a stream. */
export const decode = (...events: readonly string[]): Promise<DecodedChat> =>
  decodeChatStream(bytesOf(events.join("")));

/** Returns a tool call as messages have it. */
export const callOf = (id: string | null, name: string, given: string): object => ({
  id,
  type: "function",
  function: { name, arguments: given },
});
