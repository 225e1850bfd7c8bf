import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHost, sqliteStore } from "@colloquy/runtime-node";
import { scriptedModel } from "@colloquy/runtime-test/models";
import OpenAI from "openai";
import { afterEach, beforeEach, expect, test } from "vitest";

let folder = "";
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "colloquy-killed-"));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const started = async (
  which: "first" | "second",
): Promise<{ readonly child: ChildProcess; readonly client: OpenAI }> => {
  const script = join(import.meta.dirname, "server-process.ts");
  const child = spawn(process.execPath, [script, join(folder, "threads.db"), which], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  if (child.stdout === null) throw new Error("the server has no output");
  const [line]: unknown[] = await once(child.stdout, "data");
  const baseURL = `http://127.0.0.1:${String(line).trim()}/v1`;
  return { child, client: new OpenAI({ apiKey: "none", baseURL, maxRetries: 0 }) };
};

/** How many asks stand in the journal of a thread: looked at from this process. */
const asksIn = async (threadId: string): Promise<number> => {
  const store = sqliteStore({ path: join(folder, "threads.db") });
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
  const first = await started("first");
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
  // It waits in the queue of the conversation, and was taken, but its client has no answer yet.
  const key = { headers: { "idempotency-key": "second" } };
  const more = { model: "any", input: "And then?", conversation };
  const unanswered = first.client.responses.create(more, key).catch((error: unknown) => error);
  await expect.poll(() => asksIn(conversation)).toBe(2);
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  expect(await unanswered).toBeInstanceOf(Error);

  const { client } = await started("second");
  const texts: string[] = [];
  for await (const event of await client.responses.retrieve(id, { stream: true }))
    if (event.type === "response.completed") texts.push(`${event.response.id}: ${event.response.output.length}`);
  expect(texts).toEqual([`${id}: 1`]);
  expect((await client.responses.retrieve(id)).output_text).toBe("It was a dark night.");
  // The client sends it twice more, as clients do.
  const [one, other] = await Promise.all([client.responses.create(more, key), client.responses.create(more, key)]);
  expect(one.output_text).toBe("And then?");
  expect(other).toEqual(one);
});
