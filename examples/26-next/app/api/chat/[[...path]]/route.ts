import { uiChat } from "@colloquy/server";

import { host } from "../../../../host";

export const { GET, POST } = uiChat(host, {
  path: "/api/chat",
  // Put in your own sessions: who asks, and whose chats are theirs.
  authenticate: () => ({ id: "guest" }),
  mayUse: (_, threadId) => threadId.startsWith("chat-"),
});
