// The whole backend of a page with `useChat`. In Next it is app/api/chat/[[...path]]/route.ts.
import { createHost, openaiChat, sqliteStore, tool } from "@colloquy/runtime-node";
import { uiChat } from "@colloquy/server";
import { z } from "zod";

const refund = tool({
  name: "refund",
  description: "Pays money back to a customer.",
  input: z.object({ order: z.string(), amount: z.number() }),
  approval: "always", // by the user, in the page
  recovery: "once", // does not run again after a crash
  run: ({ order, amount }) => `Paid back ${amount} for order ${order}.`,
});

export const host = createHost({
  llm: openaiChat({ model: "gpt-4o-mini" }),
  store: sqliteStore({ path: process.env["THREADS"] ?? "threads.db" }),
  system: "You help the customers of a shop.",
  tools: [refund],
});

export const { GET, POST } = uiChat(host, {
  path: "/api/chat",
  // Put your own sessions here: the user of a request, and the chats of a user.
  authenticate: ({ headers }) => (headers.get("cookie") === "user=ada" ? { id: "ada" } : null),
  mayUse: (user, threadId) => threadId.startsWith(`${user.id}_`), // no user's id has a `_`
  tools: [{ name: "cart", description: "What is in the cart of the page.", input: z.object({}) }],
  onDisconnect: "continue", // or "cancel": see below
  onError: (error, requestId) => console.error(requestId, error), // the page reads a sentence instead
});
