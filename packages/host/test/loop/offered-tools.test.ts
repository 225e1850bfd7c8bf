import { summariseTurns } from "@colloquy/machine/policies";
import { tool } from "@colloquy/host";
import type { LlmContext } from "@colloquy/host";
import { expect, test } from "vitest";
import { z } from "zod";
import { says, type ScriptedStep, settle, stage } from "../stage.ts";

const named = (name: string, description: string) =>
  tool({ name, description, input: z.object({}), run: () => "done" });

const tools = [named("search", "Searches."), named("read", "Reads.")];

/** Steps that keep what the handler was given beside the call. */
const watched = (count: number): { readonly contexts: LlmContext[]; readonly script: readonly ScriptedStep[] } => {
  const contexts: LlmContext[] = [];
  const step: ScriptedStep = async (_, context) => {
    contexts.push(context);
    return says("ok");
  };
  return { contexts, script: Array<ScriptedStep>(count).fill(step) };
};

test("a model handler is handed the declarations of the tools that the call offers", async () => {
  const { contexts, script } = watched(1);
  const { host, model } = stage({ script, tools });
  await host.ask("hi");
  expect(contexts[0]?.tools.map(({ name, description }) => [name, description])).toEqual([
    ["search", "Searches."],
    ["read", "Reads."],
  ]);
  expect(model.calls[0]?.tools?.map(({ name }) => name)).toEqual(["search", "read"]);
  expect(new Set(model.calls[0]?.tools?.map(({ digest }) => digest)).size).toBe(2);
});

test("a summary is offered none", async () => {
  const { contexts, script } = watched(8);
  const { host, model } = stage({ script, tools, machine: { policy: summariseTurns({ maxTurns: 2, keepTurns: 1 }) } });
  for (const text of ["one", "two", "three", "four"]) await host.ask(text);
  await settle();
  const summary = model.calls.findIndex(({ purpose }) => purpose === "summary");
  expect(model.calls[summary]?.tools).toEqual([]);
  expect(contexts[summary]?.tools).toEqual([]);
});

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
