import { createHost, memoryStore, tool } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { onScreen } from "./screen.ts";

const remove = () => {
  const removed: string[] = [];
  const made = tool({
    name: "remove",
    description: "Removes a file.",
    input: { jsonSchema: { type: "object" } },
    approval: "always",
    run: async (input) => {
      removed.push(JSON.stringify(input));
      return "gone";
    },
  });
  return { removed, tools: [made], machine: { tools: [made.declaration] } };
};

const calls = (...files: readonly string[]) =>
  toolCalls(files.map((file) => ({ name: "remove", arguments: { file } })));

test("a call that waits for an approval is shown with its arguments; y runs it", async () => {
  const { removed, ...options } = remove();
  const { type, press, until, finished, status } = onScreen(scriptedModel([calls("a"), reply("Done.")]), options);
  type("Remove a.");
  press("enter");
  await until('? remove {"file":"a"}');
  expect(status()).toContain("waits for y or n");
  type("y");
  await until("Done.\nAgent");
  expect(finished()).toContain(
    '\n? remove {"file":"a"}\n✓ remove was approved\n● remove {"file":"a"}\n  └ gone\nDone.',
  );
  expect(removed).toEqual(['{"file":"a"}']);
});

test("n denies, with a reason that the model reads; Esc goes back; several are asked one after the other", async () => {
  const { removed, ...options } = remove();
  const model = scriptedModel([
    calls("a", "b"),
    reply("Well.", { expects: (_, call) => JSON.stringify(call.messages).includes("not that one") }),
  ]);
  const { type, press, until, finished, input } = onScreen(model, options);
  type("Remove both.");
  press("enter");
  await until('? remove {"file":"a"}');
  expect(finished()).not.toContain('"b"');
  type("n");
  expect(input()).toBe("why not? ");
  press("escape");
  expect(input()).toBe("> ");
  type("n");
  type("not that one");
  press("enter");
  await until(/✗ remove was denied[^]*\? remove {"file":"b"}/);
  type("n");
  press("enter");
  await until("Well.\nAgent");
  expect(finished().match(/was denied/g)).toHaveLength(2);
  expect(removed).toEqual([]);
  model.assertComplete();
});

test("a lets the tool run from here on, and says so", async () => {
  const { removed, ...options } = remove();
  const { type, press, until } = onScreen(scriptedModel([calls("a"), calls("b"), reply("Done.")]), options);
  type("Remove both.");
  press("enter");
  await until("? remove");
  type("a");
  await until("remove runs without a question from here on, as long as this process lives");
  await until("Done.\nAgent");
  expect(removed).toEqual(['{"file":"a"}', '{"file":"b"}']);
});

test("what is being typed is no answer", async () => {
  const { removed, ...options } = remove();
  const { type, press, until, input } = onScreen(scriptedModel([calls("a"), reply("Done.")]), options);
  type("Remove a.");
  press("enter");
  type("wh");
  await until("? remove");
  type("y");
  expect(input()).toBe("> why");
  press("ctrl+c");
  await until("stopped");
  expect(removed).toEqual([]);
});

test("an approval that waited when the thread was opened is asked for", async () => {
  const { removed, machine, tools } = remove();
  const clock = virtualClock();
  const store = memoryStore({ clock });
  const setting = { machine: conversationMachine(machine), store, clock, ids: sequentialIds(), tools };
  const first = createHost({ ...setting, llm: scriptedModel([calls("a")]) });
  const asked = first.ask("Remove a.", { threadId: "here" });
  for await (const part of asked) if (part.type === "approval.requested") break;
  await first.close();
  const host = createHost({ ...setting, llm: scriptedModel([reply("Done.")]) });
  const { type, until, finished } = onScreen(scriptedModel([]), { host });
  await until('? remove {"file":"a"}');
  type("y");
  await until("Done.\nAgent");
  expect(finished()).toContain("> Remove a.\n");
  expect(removed).toEqual(['{"file":"a"}']);
});
