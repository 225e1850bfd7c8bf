import { memoryStore, type Store, tool } from "@colloquy/host";
import { describe, expect, test } from "vitest";
import { gated, overriding } from "../gated-store.ts";
import { calls, entriesOf, errorOf, journalOf, manualClock, says, settle, stage } from "../stage.ts";

// Parallel tools start and end at about the same time. Outcomes that wait while one is being stored are stored by one
// write.

const clock = manualClock();

/** A batch of four calls, each answered when the test says so. */
const four = (recovery?: "once") => {
  const answers: (() => void)[] = [];
  const fetch = tool({
    name: "fetch",
    description: "",
    input: { jsonSchema: {} },
    ...(recovery === undefined ? {} : { recovery }),
    run: () => new Promise<string>((resolve) => answers.push(() => resolve("done"))),
  });
  const script = [calls(["fetch", 1], ["fetch", 2], ["fetch", 3], ["fetch", 4]), says("all done")];
  return { tools: [fetch], script, answers };
};

const starts = Array<string>(4).fill("tool.started").join();

const results = (count: number): string => Array<string>(count).fill("tool.completed").join();

describe("results that wait together", () => {
  test("are one append, and each is performed and shown only after it", async () => {
    const gate = gated(memoryStore({ clock }));
    const { tools, script, answers } = four();
    const { host, model } = stage({ clock, store: gate.store, tools, script });
    const handle = host.ask("go");
    const shown: number[] = [];
    const reading = (async () => {
      for await (const part of handle) if (part.type === "toolResult") shown.push(part.position);
    })();
    await settle();
    while (answers.length < 4) await gate.pass();
    for (const index of [2, 0, 3, 1]) answers[index]?.();
    await settle();
    expect(gate.waiting).toEqual([results(1)]);
    await gate.pass();
    expect([gate.waiting, shown, model.calls.length]).toEqual([[results(3)], [2], 1]);
    await gate.pass();
    expect([gate.waiting, shown, model.calls.length]).toEqual([["llm.completed"], [2, 0, 3, 1], 2]);
    await gate.pass();
    await reading;
    expect((await handle).text).toBe("all done");
    expect((await entriesOf(gate.store)).map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    await host.close();
  });

  test("so are the starts of once-only tools, none of which runs before", async () => {
    const gate = gated(memoryStore({ clock }));
    const { tools, script, answers } = four("once");
    const { host } = stage({ clock, store: gate.store, tools, script });
    const handle = host.ask("go");
    await settle();
    for (const type of ["thread.started", "ask.received", "llm.completed"]) {
      expect(gate.waiting).toEqual([type]);
      await gate.pass();
    }
    expect([gate.waiting, answers.length]).toEqual([[starts], 0]);
    await gate.pass();
    expect([gate.waiting, answers.length]).toEqual([[], 4]);
    for (const answer of answers) answer();
    await settle();
    while (gate.waiting.length > 0) await gate.pass();
    expect((await handle).text).toBe("all done");
    await host.close();
  });

  test("a cancel behind some of them is decided after them, and the rest is stale", async () => {
    const gate = gated(memoryStore({ clock }));
    const { tools, script, answers } = four();
    const { host } = stage({ clock, store: gate.store, tools, script });
    const handle = host.ask("go");
    await settle();
    while (answers.length < 4) await gate.pass();
    for (const index of [0, 1, 2]) answers[index]?.();
    await settle();
    handle.abort();
    answers[3]?.();
    await settle();
    await gate.pass();
    expect(gate.waiting).toEqual([results(2)]);
    await gate.pass();
    expect(gate.waiting).toEqual(["cancel.requested"]);
    await gate.pass();
    expect(await errorOf(handle)).toMatchObject({ name: "TurnCancelledError" });
    await host.close();
  });

  test("an append of several that fails stores none of them, and the next use of the thread says of each that it is not known", async () => {
    const gate = gated(memoryStore({ clock }));
    const { tools, script, answers } = four();
    const first = stage({ clock, store: gate.store, tools, script });
    const handle = first.host.ask("go", { askId: "a" });
    await settle();
    while (answers.length < 4) await gate.pass();
    for (const answer of answers) answer();
    await settle();
    await gate.pass();
    await gate.pass(new Error("disk full"));
    expect(await errorOf(handle)).toMatchObject({ message: expect.stringContaining("append entries") });
    expect(await journalOf(gate.store)).toHaveLength(4);
    const again = first.another({ tools, script: [says("all done")] });
    const going = again.host.ask("go", { askId: "a" });
    await settle();
    // The unknown outcomes of the three are journalled together as well.
    expect(gate.waiting).toEqual(["tool.failed,tool.failed,tool.failed"]);
    while (gate.waiting.length > 0) await gate.pass();
    expect((await going).text).toBe("all done");
    await again.host.close();
    await first.host.close();
  });

  test("starts that were being stored together when the thread was closed have each come to nothing", async () => {
    const gate = gated(memoryStore({ clock }));
    const { tools, script, answers } = four("once");
    const { host, store } = stage({ clock, store: gate.store, tools, script });
    host.ask("go").catch(() => {});
    await settle();
    for (let index = 0; index < 3; index++) await gate.pass();
    expect(gate.waiting).toEqual([starts]);
    const closing = host.close();
    await gate.pass();
    expect(gate.waiting).toEqual(["tool.failed,tool.failed,tool.failed,tool.failed"]);
    await gate.pass();
    await closing;
    expect(answers).toHaveLength(0);
    const failures = Array<string>(4).fill("tool.failed interrupted");
    expect((await journalOf(store)).slice(3)).toEqual([...starts.split(","), ...failures]);
  });

  test("a store that answers at once is given the same entries", async () => {
    const appends: string[] = [];
    const inner: Store = memoryStore({ clock });
    const store = overriding(inner, {
      append: (lease, seq, entries) => {
        appends.push(entries.map(({ event }) => event.type).join());
        return inner.append(lease, seq, entries);
      },
    });
    const { tools, script, answers } = four();
    const { host } = stage({ clock, store, tools, script });
    const handle = host.ask("go");
    await settle();
    for (const answer of answers) answer();
    expect((await handle).text).toBe("all done");
    expect(appends.join().split(",")).toEqual([
      "thread.started",
      "ask.received",
      "llm.completed",
      ...results(4).split(","),
      "llm.completed",
    ]);
    await host.close();
  });
});
