import { uiChat } from "@colloquy/server";

import { host } from "../../../../host";

export const { GET, POST } = uiChat(host, {
  path: "/api/chat",
  // Put your own sessions here: the user of a request, and the chats of a user.
  authenticate: () => ({ id: "guest" }),
  mayUse: (_, threadId) => threadId.startsWith("chat-"),
});
