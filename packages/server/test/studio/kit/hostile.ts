import { createHost, declarationsOf, type Host, type Store, tool } from "@colloquy/host";
import { conversationMachine, type JsonObject, type ReplyDraft } from "@colloquy/machine";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";
import { z } from "zod";

/** Text that would, if read as markup, set `window.pwned` or send a request. */
const markup =
  `"'><script>window.pwned=1</script><img src="http://evil.example/x" onerror="window.pwned=1">` +
  `<svg onload="window.pwned=1"></svg><a href="javascript:window.pwned=1">click</a><iframe srcdoc="<script>parent.pwned=1</script>"></iframe>` +
  `<style>*{display:none}</style>\`\${window.pwned=1}{{constructor.constructor('window.pwned=1')()}}`;

/** Characters that hide, reorder or break the text around them. */
const unseen = "\u0000\u0007\u001b[31m\u009b\u202eesrever\u2066\u200b\ufeff\u{e0041}\r\u2028";

const evil = `${markup}${unseen}`;

/** Makes a thread with all of that in every place; one of its calls waits for approval. Returns its host and id. */
export const hostileThread = async (store: Store): Promise<{ readonly host: Host; readonly threadId: string }> => {
  const threadId = evil;
  const clock = virtualClock(Date.now());
  const json: JsonObject = { [evil]: evil, deep: [[evil]], __proto__: null, constructor: evil, toJSON: evil };
  const run = tool({
    name: "run",
    description: evil,
    version: evil,
    approval: "always",
    input: z.looseObject({}),
    run: () => evil,
  });
  let replies = 0;
  const host = createHost({
    store,
    clock,
    ids: sequentialIds(),
    machine: conversationMachine({ tools: declarationsOf([run]), model: json }),
    tools: [run],
    llm: async () => {
      const reply = said[replies++] ?? {};
      return reply === "failure"
        ? { type: "failed", failure: { kind: "bad_request", message: evil, retryable: false, code: evil } }
        : {
            type: "completed",
            reply,
            // This finish reason is an error, so a call with it would not run.
            finishReason: "toolCalls" in reply ? "tool_calls" : evil,
            model: evil,
            responseId: evil,
            usage: { inputTokens: 1, provider: json },
          };
    },
  });
  const thread = host.thread(threadId);
  await thread.start({ system: { role: "system", content: evil, name: evil }, metadata: json });
  const input = [
    { type: "text", text: evil },
    { type: "image", url: `javascript:window.pwned=1//${evil}` },
    { type: "image", url: `data:text/html,${evil}` },
    { type: "data", field: evil, value: json },
    { type: "opaque", value: json },
    { type: "text", text: "<b>".repeat(200_000) },
  ] as const;
  for (let turn = 0; turn < 3; turn += 1) await thread.ask(input, { metadata: json, model: json }).catch(() => null);
  await thread.checkpoint(evil);
  await thread.annotate(1, evil, evil, json);
  await thread.addTurn([
    { role: "user", content: evil },
    { role: "assistant", content: evil, toolCalls: [{ id: evil, name: evil, arguments: evil }] },
    { role: "tool", toolCallId: evil, content: evil },
  ]);
  for await (const part of thread.ask(evil)) if (part.type === "approval.requested") break;
  return { host, threadId };
};

/** The outcomes of the model's calls, in order. */
const said: readonly (ReplyDraft | "failure")[] = [
  {
    content: [
      { type: "reasoning", text: evil },
      { type: "text", text: evil },
      { type: "refusal", text: evil },
    ],
    name: evil,
    provider: { [evil]: evil },
  },
  { content: evil, toolCalls: [{ id: evil, name: evil, arguments: evil }] },
  "failure",
  { content: evil },
  { content: evil, toolCalls: [{ id: evil, name: "run", arguments: JSON.stringify({ [markup]: evil }) }] },
];
