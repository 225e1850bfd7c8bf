import type { UIMessage, UIMessageChunk } from "ai";

/** Asks as `useChat` does. Returns the text of the answer. */
export const askAs = async (url: string, chat: string, text: string): Promise<string> => {
  const message = { id: `message-${text}`, role: "user", parts: [{ type: "text", text }] };
  const response = await fetch(`${url}/api/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id: chat, messages: [message], trigger: "submit-message" }),
  });
  const stream = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${stream}`);
  const chunks = [...stream.matchAll(/^data: (\{.*\})$/gm)].map(
    // The route of `uiChat` sends these chunks.
    ([, chunk = ""]) => JSON.parse(chunk) as UIMessageChunk,
  );
  return chunks.map((chunk) => (chunk.type === "text-delta" ? chunk.delta : "")).join("");
};

/** Returns the chat that the page shows when it opens: `user: …`, `assistant: …`. */
export const shownBy = async (url: string, chat: string): Promise<readonly string[]> => {
  const response = await fetch(`${url}/api/chat/${chat}/messages`);
  // The route of `uiChat` sends these messages.
  const messages = (await response.json()) as readonly UIMessage[];
  return messages.map(
    ({ role, parts }) => `${role}: ${parts.map((part) => (part.type === "text" ? part.text : "")).join("")}`,
  );
};
