// A custom model handler over HTTP: docs/model-calls.md shows it.
import { replyFromChatMessage, toChatMessage } from "@colloquy/interchange";
import {
  createHost,
  decodeChatStream,
  errorTextOf,
  failureOfResponse,
  failureOfThrown,
  type LlmHandler,
  memoryStore,
} from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import * as Either from "fp-ts/lib/Either.js";

const overHttp =
  (baseURL: string, key: string): LlmHandler =>
  async ({ messages, model }, { signal, onDelta, clock }) => {
    // Keeps keys that the server quotes out of the journal.
    const setting = { now: clock.now(), secrets: [key], baseURL };
    try {
      const response = await fetch(`${baseURL}/chat/completions`, {
        method: "POST",
        redirect: "manual",
        signal,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ ...model, stream: true, messages: messages.map((message) => toChatMessage(message)) }),
      });
      if (!response.ok || response.body === null) {
        const { status, headers } = response;
        const error = await errorTextOf(response, signal);
        return { type: "failed", failure: failureOfResponse({ status, headers, error }, setting) };
      }
      const { choices } = await decodeChatStream(response.body, onDelta);
      const read = replyFromChatMessage(choices[0]?.message);
      if (Either.isLeft(read))
        return { type: "failed", failure: { kind: "unknown", message: read.left, retryable: true } };
      return { type: "completed", reply: read.right, finishReason: choices[0]?.finish_reason ?? null };
    } catch (thrown) {
      return { type: "failed", failure: failureOfThrown(thrown, setting) };
    }
  };

const server = await loopbackServer({ model: scriptedModel([reply("All is well.")]) });
const host = createHost({
  store: memoryStore(),
  llm: overHttp(server.url, "k"),
  machine: { model: { model: "model-1" } },
});
console.log((await host.ask("Is anybody there?")).text);
await host.close();
await server.close();
