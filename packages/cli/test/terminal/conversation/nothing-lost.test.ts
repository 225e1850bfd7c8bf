import { createHost, type LlmHandler, memoryStore, tool } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";
import { fails, never, reply, ruleModel, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { onScreen, type OnScreen } from "./screen.ts";
import { runs } from "../../../../../test/runs.ts";

const look = tool({
  name: "look",
  description: "Looks.",
  input: { jsonSchema: { type: "object" } },
  approval: "always",
  run: async () => "sky",
});

/** Makes a model for which the number of a question decides its outcome. */
const model = (): LlmHandler =>
  ruleModel([
    {
      name: "any",
      when: () => true,
      answer: ({ lastUserText, toolResults }) => {
        if (toolResults.length > 0) return "Seen.";
        switch (Number(/q(\d+)/.exec(lastUserText)?.[1] ?? 0) % 5) {
          case 1:
            return reply("At last.", { delayMs: 300 });
          case 2:
            return fails({ kind: "auth" }, { delayMs: 100 });
          case 3:
            return never({ pieces: ["Once"] });
          case 4:
            return toolCalls([{ name: "look", arguments: {} }]);
          default:
            return reply("At once.");
        }
      },
    },
  ]);

const doings: readonly ((screen: OnScreen) => void | Promise<void>)[] = [
  ({ press }) => press("escape"),
  ({ press, input, status }) => (input() === "> " && status().includes("queued") ? press("up") : undefined),
  ({ press, input }) => (input() === "> " ? press("ctrl+n") : undefined),
  ({ press, type, input }) => (input() === "> " ? (type("/thread here"), press("enter")) : undefined),
  ({ press, type, input }) => (input() === "> " ? (type("/undo"), press("enter")) : undefined),
  ({ type, input }) => (input() === "> " ? type("y") : undefined),
  ({ type, input }) => (input() === "> " ? type("n") : undefined),
  ({ press }) => press("enter"),
  ({ clock }) => clock.advance(0),
  ({ clock }) => clock.advance(150),
  ({ clock }) => clock.advance(400),
];

/** A question by Enter or by Tab, or another action by its index. */
const doing = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("enter", "tab") },
  { weight: 4, arbitrary: fc.nat(doings.length - 1) },
);

test("each question that was sent is in a journal, is back in the input, or is said to be dropped", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(doing, { maxLength: 16 }), fc.boolean(), async (given, steers) => {
      const clock = virtualClock();
      const machine = conversationMachine({ tools: [look.declaration] });
      const store = memoryStore({ clock });
      const host = createHost({ machine, store, llm: model(), clock, ids: sequentialIds(), tools: [look] });
      const ending = new AbortController();
      const screen = { ...onScreen(model(), { host, steers, signal: ending.signal }), clock };
      let count = 0;
      for (const each of given)
        if (typeof each === "number") await doings[each]?.(screen);
        else {
          if (screen.conversation.shown().view !== null) screen.press("escape");
          // A failed command returns into the input.
          if (screen.input().startsWith("> /")) screen.press("ctrl+u");
          screen.type(`q${count++}.`);
          screen.press(each);
        }
      ending.abort();
      await screen.conversation.ended;
      await host.close();
      const reader = createHost({ machine, store, llm: model(), clock, ids: sequentialIds(), tools: [look] });
      const { threads } = await reader.threads({ limit: 100 });
      const journals = await Promise.all(threads.map(({ threadId }) => reader.thread(threadId).exportJournal()));
      const dropped = screen.finished().match(/> [^>]*?not asked/g) ?? [];
      const kept = [JSON.stringify(journals), screen.input(), ...dropped].join("\n");
      for (let number = 0; number < count; number++) expect(kept).toContain(`q${number}.`);
    }),
    { seed: 13, numRuns: runs(300) },
  );
});

test("questions that wait at quitting are listed, and in the input history of the next run", async () => {
  const kept: string[] = [];
  const history = { load: async () => [], append: async (text: string) => void kept.push(text) };
  const { ask, type, press, finished, conversation } = onScreen(
    ruleModel([{ name: "any", when: () => true, answer: () => never({}) }]),
    { history },
  );
  await ask("One?", "answers");
  for (const text of ["Two?", "Three?"]) {
    type(text);
    press("tab");
  }
  press("ctrl+d");
  await conversation.ended;
  expect(finished()).toMatch(/\n> Two\?\n {2}not asked[^\n]*\n\n> Three\?\n {2}not asked/);
  expect(kept).toEqual(["One?", "Two?", "Three?"]);
});

test("a question sent while a command switches threads is asked on the new one", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const model = scriptedModel([reply("Here."), reply("There.")]);
  const { send, until, host, clock, status } = onScreen(model, { newThreadId: () => promise });
  for (const text of ["One?", "/new", "Two?"]) {
    if (text === "/new") await until(/\nthread here · 1 turn[^\n]*$/);
    send(text);
  }
  await clock.advance(0);
  expect(status()).toContain("1 queued");
  resolve("there");
  await until("There.\nAgent");
  const asked = async (id: string): Promise<string> => JSON.stringify(await host.thread(id).state());
  expect(await asked("here")).not.toContain("Two?");
  expect(await asked("there")).toContain("Two?");
});

test("a question sent while a command fails is asked after it", async () => {
  const { promise, reject } = Promise.withResolvers<string>();
  const { send, until, finished } = onScreen(scriptedModel([reply("Here.")]), { newThreadId: () => promise });
  for (const text of ["/new", "One?"]) {
    send(text);
  }
  reject(new Error("no id"));
  await until("Here.\nAgent");
  expect(finished()).toContain("error: no id");
});
