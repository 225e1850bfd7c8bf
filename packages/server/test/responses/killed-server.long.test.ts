import { createHost, sqliteStore } from "@colloquy/runtime-node";
import { scriptedModel } from "@colloquy/runtime-test/models";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { newStore, started } from "../processes.ts";

const serverOn = async (path: string, which: "first" | "second") => {
  const { kill, said } = await started("responses/server-process.ts", path, which);
  return { kill, client: new OpenAI({ apiKey: "none", baseURL: `http://127.0.0.1:${said}/v1`, maxRetries: 0 }) };
};

/** Counts the asks in a thread's journal, from this process. */
const asksIn = async (path: string, threadId: string): Promise<number> => {
  const store = sqliteStore({ path });
  try {
    return (
      await createHost({ llm: scriptedModel([]), store })
        .thread(threadId)
        .asks()
    ).length;
  } finally {
    await store.close();
  }
};

test("a server that is killed in mid-stream loses nothing that it took: the response goes on under its id, and what waited behind it is answered once", async () => {
  const path = newStore();
  const first = await serverOn(path, "first");
  const stream = await first.client.responses.create({
    model: "any",
    input: "Tell me",
    background: true,
    stream: true,
  });
  let id = "";
  let conversation = "";
  for await (const event of stream) {
    if (event.type === "response.created") {
      id = event.response.id;
      conversation = event.response.conversation?.id ?? "";
    }
    if (event.type === "response.output_text.delta") break;
  }
  // The ask is stored in the conversation's queue, but its client has no answer yet.
  const key = { headers: { "idempotency-key": "second" } };
  const more = { model: "any", input: "And then?", conversation };
  const unanswered = first.client.responses.create(more, key).catch((error: unknown) => error);
  await expect.poll(() => asksIn(path, conversation)).toBe(2);
  await first.kill();
  expect(await unanswered).toBeInstanceOf(Error);

  const { client } = await serverOn(path, "second");
  const texts: string[] = [];
  for await (const event of await client.responses.retrieve(id, { stream: true }))
    if (event.type === "response.completed") texts.push(`${event.response.id}: ${event.response.output.length}`);
  expect(texts).toEqual([`${id}: 1`]);
  expect((await client.responses.retrieve(id)).output_text).toBe("It was a dark night.");
  // The client sends it twice more, as retries do.
  const [one, other] = await Promise.all([client.responses.create(more, key), client.responses.create(more, key)]);
  expect(one.output_text).toBe("And then?");
  expect(other).toEqual(one);
});
