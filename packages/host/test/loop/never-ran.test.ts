import { memoryStore, tool } from "@colloquy/host";
import { expect, test } from "vitest";
import { gated } from "../gated-store.ts";
import { calls, journalOf, manualClock, says, settle, stage } from "../stage.ts";

// A close comes at its own time, and must lose nothing.

const once = (runs: unknown[]) =>
  tool({
    name: "pay",
    description: "Pays.",
    input: { jsonSchema: { type: "object" } },
    recovery: "once",
    run: () => void runs.push("run"),
  });

test("a tool whose start is stored when the thread is closed has run: its outcome is known", async () => {
  const runs: unknown[] = [];
  const first = stage({ owner: "same", tools: [once(runs)], script: [calls(["pay", {}])] });
  const ask = first.host.ask("go", { askId: "a" });
  ask.catch(() => {});
  for await (const part of ask) if (part.type === "toolCall") break;
  await first.host.close();
  const started = (await journalOf(first.store)).includes("tool.started");
  expect(runs).toHaveLength(started ? 1 : 0);
});

test("a start that was being stored when the thread was closed is journalled to have come to nothing", async () => {
  const runs: unknown[] = [];
  const clock = manualClock();
  const gate = gated(memoryStore({ clock }));
  const first = stage({ clock, owner: "same", store: gate.store, tools: [once(runs)], script: [calls(["pay", {}])] });
  first.host.ask("go", { askId: "a" }).catch(() => {});
  await settle();
  while (gate.waiting[0] !== "tool.started") await gate.pass();
  const closing = first.host.close();
  await gate.pass();
  await gate.pass();
  await closing;
  expect(runs).toEqual([]);
  const crashed = ["thread.started", "ask.received", "llm.completed", "tool.started", "tool.failed interrupted"];
  expect(await journalOf(gate.store)).toEqual(crashed);
  // The thread continues at its next use, and the model reads of the interrupted call.
  const next = first.another({ tools: [once(runs)], script: [says("Shall I?")] });
  const going = next.host.ask("go", { askId: "a" });
  await settle();
  while (gate.waiting.length > 0) await gate.pass();
  expect((await going).text).toBe("Shall I?");
  expect(runs).toEqual([]);
});
