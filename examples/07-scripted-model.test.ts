// Tests a conversation with a scripted model, on a clock that the test drives. No network, no waiting, and the same run
// each time.
import { createHost, memoryStore, tool } from "@colloquy/runtime-node";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";
import { fails, reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { z } from "zod";

test("a booking survives an overloaded server and a slow tool", async () => {
  // Arrange
  const clock = virtualClock();
  const book = tool({
    name: "book",
    description: "Books a table.",
    input: z.object({ people: z.int() }),
    timeoutMs: 2_000,
    run: () => new Promise(() => undefined), // never answers
  });
  const model = scriptedModel([
    fails({ kind: "overloaded", retryAfterMs: 60_000 }, { expects: "A table for two." }),
    toolCalls([{ name: "book", arguments: { people: 2 } }]),
    reply("I could not book it.", { expects: /did not answer within 2000 ms/ }),
  ]);
  const host = createHost({
    store: memoryStore({ clock }),
    llm: model,
    tools: [book],
    clock,
    ids: sequentialIds(),
  });
  const startedAt = clock.now();

  // Act
  const asked = host.ask("A table for two.");
  const { text, status } = await clock.runUntil(asked);

  // Assert
  expect({ text, status }).toEqual({ text: "I could not book it.", status: "completed" });
  expect(clock.now() - startedAt).toBe(62_000); // the test waited for none of it
  model.assertComplete();
});
