import { createHost, memoryStore, tool } from "@colloquy/runtime-node";
import { runningClock } from "@colloquy/runtime-test";
import { ruleModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { z } from "zod";
import { threadServer } from "../src/index.ts";
import { at, post } from "./serving.ts";

const lookUp = tool({ name: "look_up", description: "Looks up.", input: z.object({}), run: () => "found" });

const llm = ruleModel([
  {
    name: "found",
    when: ({ toolResults }) => toolResults.length > 0,
    answer: () => streams(["It ", "is ", "found."].map((text) => ({ text, delayMs: 1 }))),
  },
  { name: "look", when: () => true, answer: () => toolCalls([{ name: "look_up", arguments: {} }]) },
]);

/** Asks, reads at most `chunks` chunks of the stream, and disconnects. Returns the number of chunks. */
const readAndGo = async (chunks: number) => {
  const host = createHost({ llm, store: memoryStore(), tools: [lookUp], clock: runningClock() });
  // A disconnect must free the only stream for the next client.
  const server = threadServer(host, { streamsMax: 1 });
  const made = await server.fetch(post("/v1/conversations", {}));
  // Cast: the route answers so.
  const { id } = (await made.json()) as { id: string };
  const response = await server.fetch(post("/v1/responses", { conversation: id, input: "Find it", stream: true }));
  const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader();
  let read = 0;
  while (read < chunks && !(await reader.read()).done) read += 1;
  await reader.cancel();
  const asked = await host.thread(id).asks(1);
  await host.thread(id).rejoin(asked[0]?.askId ?? "");
  const again = await server.fetch(at(`/v1/responses/resp_1_1_${id}?stream=true`));
  const replayed = await again.text();
  const items = await server.fetch(at(`/v1/conversations/${id}/items?order=asc`));
  await host.close();
  return { read, replayed: replayed.replaceAll(id, "ID"), items: (await items.text()).replaceAll(id, "ID") };
};

test("who goes at any point costs the turn nothing, and finds all of it when coming back", async () => {
  const whole = await readAndGo(Infinity);
  expect(whole.read).toBeGreaterThan(3);
  expect(whole.replayed).toContain("event: response.completed\n");
  for (let chunks = 0; chunks <= whole.read; chunks++) {
    const left = await readAndGo(chunks);
    expect(left.read).toBe(chunks);
    expect(left.items).toBe(whole.items);
    expect(left.replayed.match(/^event: .*$/gm)).toEqual(whole.replayed.match(/^event: .*$/gm));
  }
});
