// Serves a scripted model over OpenAI's protocol, for programs in any language. docs/testing.md shows it.
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import OpenAI from "openai";
import { expect, test } from "vitest";

test("a program with the official client gets its answer", async () => {
  const model = scriptedModel([
    toolCalls([{ name: "add", arguments: [2, 3] }], { expects: "What is 2 + 3?" }),
    reply("It is 5.", { expects: "5" }),
  ]);
  await using server = await loopbackServer({ model, apiKey: "secret" });

  const answer = await theirProgram(server.url, "secret");

  expect(answer).toBe("It is 5.");
  expect(server.requests.map(({ path }) => path)).toEqual(["/v1/chat/completions", "/v1/chat/completions"]);
  model.assertComplete();
});

/** Stands in for another program, which has only an address and a key. */
const theirProgram = async (baseURL: string, apiKey: string): Promise<string | null> => {
  const client = new OpenAI({ baseURL, apiKey });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "What is 2 + 3?" }];
  for (;;) {
    const { choices } = await client.chat.completions.create({ model: "gpt-4o-mini", messages });
    const message = choices[0]?.message;
    if (message === undefined) return null;
    messages.push(message);
    if (message.tool_calls === undefined) return message.content;
    for (const { id } of message.tool_calls) messages.push({ role: "tool", tool_call_id: id, content: "5" });
  }
};
