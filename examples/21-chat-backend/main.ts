// Runs the AI SDK's client against the backend of route.ts, as `useChat` does in a page, but without React. A scripted
// model takes the place of OpenAI.
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import {
  AbstractChat,
  type ChatState,
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";

const model = scriptedModel([
  toolCalls([{ name: "cart", arguments: {} }]),
  reply("A kettle, which you have bought before."),
  toolCalls([{ name: "refund", arguments: { order: "17", amount: 12 } }]),
  reply("The money is on its way."),
]);
const openai = await loopbackServer({ model });
Object.assign(process.env, { OPENAI_BASE_URL: openai.url, OPENAI_API_KEY: "none", THREADS: ":memory:" });
const { GET, POST, host } = await import("./route.ts");

/** Passes a request to route.ts as the framework does. */
const fetchHere: typeof fetch = async (address, given) => {
  const request = new Request(address, given);
  return request.method === "GET" ? GET(request) : POST(request);
};

const transport = new DefaultChatTransport({
  api: "http://localhost/api/chat",
  headers: { cookie: "user=ada" },
  fetch: fetchHere,
  // The thread has the earlier messages.
  prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
    body: { id, messages: messages.slice(-1), trigger, messageId },
  }),
});

class Chat extends AbstractChat<UIMessage> {}
// A plain list in place of React's state.
const state: ChatState<UIMessage> = {
  status: "ready",
  error: undefined,
  messages: [],
  pushMessage: (message) => void state.messages.push(message),
  popMessage: () => void state.messages.pop(),
  replaceMessage: (index, message) => void (state.messages[index] = message),
  snapshot: structuredClone,
};
const chat: Chat = new Chat({
  id: "ada_1",
  state,
  transport,
  sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
  onToolCall: ({ toolCall: { toolName, toolCallId } }) => {
    if (toolName === "cart") void chat.addToolOutput({ tool: "cart", toolCallId, output: ["kettle"] });
  },
});

const print = (messages: readonly UIMessage[]): void => {
  for (const { role, parts } of messages)
    for (const part of parts)
      if (part.type === "text") console.log(`${role}: ${part.text}`);
      else if (isToolUIPart(part)) console.log(`  ${part.type} ${part.state} ${JSON.stringify(part.output ?? null)}`);
};

await chat.sendMessage({ text: "What is in my cart?" });
await chat.sendMessage({ text: "Pay order 17 back." });
for (const part of chat.lastMessage?.parts ?? [])
  if (isToolUIPart(part) && part.state === "approval-requested")
    await chat.addToolApprovalResponse({ id: part.approval.id, approved: true });
await chat.sendMessage(); // the answers

// A reopened page shows the same.
const painted = await fetchHere("http://localhost/api/chat/ada_1/messages", { headers: { cookie: "user=ada" } });
print((await painted.json()) as UIMessage[]); // the backend's type

await host.close();
await openai.close();
