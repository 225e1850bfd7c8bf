import { tool, type LlmContext, memoryStore } from "@colloquy/host";
import { expect, test } from "vitest";
import { z } from "zod";
import { gated } from "../gated-store.ts";
import {
  says,
  type ScriptedStep,
  settle,
  stage,
  calls,
  journalOf,
  manualClock,
  plain,
  held,
  partsOf,
} from "../stage.ts";
import { summarising } from "../summarising.ts";

const named = (name: string, description: string) =>
  tool({ name, description, input: z.object({}), run: () => "done" });

const tools = [named("search", "Searches."), named("read", "Reads.")];

/** Makes steps that keep the contexts of their calls. */
const watched = (count: number): { readonly contexts: LlmContext[]; readonly script: readonly ScriptedStep[] } => {
  const contexts: LlmContext[] = [];
  const step: ScriptedStep = async (_, context) => {
    contexts.push(context);
    return says("ok");
  };
  return { contexts, script: Array<ScriptedStep>(count).fill(step) };
};

test("another description of a tool is another configuration, and the next call offers it", async () => {
  const first = stage({ script: watched(1).script, tools });
  await first.host.ask("hi");
  await first.host.close();
  const { contexts, script } = watched(1);
  const later = first.another({ script, tools: [named("search", "Searches the web."), named("read", "Reads.")] });
  await later.host.ask("and now?");
  expect(contexts[0]?.tools[0]?.description).toBe("Searches the web.");
  expect(later.model.calls[0]?.tools?.[0]?.digest).not.toBe(first.model.calls[0]?.tools?.[0]?.digest);
  expect(later.model.calls[0]?.tools?.[1]?.digest).toBe(first.model.calls[0]?.tools?.[1]?.digest);
});

test("a thread of 0.1, whose journal does not name the tools, offers all that the machine declares", async () => {
  const first = stage({ script: watched(1).script, tools });
  await first.host.ask("hi");
  const journal: readonly unknown[] = await first.host.thread().exportJournal();
  const old = JSON.parse(JSON.stringify(journal).replace(/,"tools":\[[^\]]*\]/, ""));
  const { contexts, script } = watched(1);
  const { host, model } = stage({ script, tools });
  const thread = await host.importJournal(old, { threadId: "old" });
  await thread.ask("and now?", { askId: "later" });
  expect(model.calls[0]).not.toHaveProperty("tools");
  expect(contexts[0]?.tools.map(({ name }) => name)).toEqual(["search", "read"]);
});

test("a call that was requested before a restart offers none of the tools that were renamed since", async () => {
  const first = stage({ script: [held().step], tools: [named("find", "Searches.")] });
  void first.host.ask("hi", { askId: "a" }).catch(() => {});
  await settle();
  await first.host.close();
  const { contexts, script } = watched(1);
  const later = first.another({ script, tools: [named("search", "Searches.")] });
  await later.host.ask("hi", { askId: "a" });
  expect(later.model.calls[0]?.tools).toMatchObject([{ name: "find" }]);
  expect(contexts[0]?.tools).toEqual([]);
});

// A close may come at any time, and must lose nothing.

const once = (runs: unknown[]) => plain("pay", () => void runs.push("run"), { recovery: "once" });

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
  // The thread continues at its next use, and the model reads that the call was interrupted.
  const next = first.another({ tools: [once(runs)], script: [says("Shall I?")] });
  const going = next.host.ask("go", { askId: "a" });
  await settle();
  while (gate.waiting.length > 0) await gate.pass();
  expect((await going).text).toBe("Shall I?");
  expect(runs).toEqual([]);
});

test.each([{ begun: "Well, " }, { begun: null }])(
  "an answer from another host replaces the model's shown part: $begun",
  async ({ begun }) => {
    const call = held();
    const { host, model } = stage({ script: [call.step] });
    const asked = host.ask("Is it late?");
    const parts = partsOf(asked);
    await settle();
    if (begun !== null) call.show(begun);
    const [{ id: effectId, promptDigest } = { id: "", promptDigest: "" }] = model.calls;
    const { reply, finishReason } = { reply: { content: "It is." }, finishReason: "stop" } as const;
    await host.thread().send({ type: "llm.completed", at: 1, effectId, promptDigest, reply, finishReason });
    expect((await asked).text).toBe("It is.");
    const texts = (await parts).flatMap((part) => (part.type === "text.delta" ? [part] : []));
    const last = Math.max(...texts.map(({ attempt }) => attempt));
    expect(last).toBe(begun === null ? 1 : 2);
    const shown = texts.filter(({ attempt }) => attempt === last).map(({ text }) => text);
    expect(shown.join("")).toBe("It is.");
    await host.close();
  },
);

test("a summary from elsewhere is not shown in the turn that runs beside it", async () => {
  const [summary, answer] = [held(), held()];
  const { host, model } = stage({
    script: [says("1"), summary.step, answer.step, says("They said two.")],
    machine: { policy: summarising },
  });
  await host.ask("one");
  const second = host.ask("two");
  const parts = partsOf(second);
  await settle();
  const { id: effectId = "", promptDigest = "" } = model.calls.find(({ purpose }) => purpose === "summary") ?? {};
  const { reply, finishReason } = { reply: { content: "They said one." }, finishReason: "stop" } as const;
  await host.thread().send({ type: "llm.completed", at: 1, effectId, promptDigest, reply, finishReason });
  answer.answer(says("2"));
  await second;
  expect((await parts).flatMap((part) => (part.type === "text.delta" ? [part.text] : [])).join("")).toBe("2");
  await host.close();
});
