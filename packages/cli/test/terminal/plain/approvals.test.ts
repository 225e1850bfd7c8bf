import { tool } from "@colloquy/host";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Held, hold } from "./conversation.ts";

beforeEach(() => void vi.stubEnv("TERM", "xterm"));
afterEach(() => void vi.unstubAllEnvs());

const removing = (): {
  readonly removed: string[];
  readonly model: ReturnType<typeof scriptedModel>;
  readonly held: Held;
} => {
  const removed: string[] = [];
  const remove = tool({
    name: "remove",
    description: "Removes a file.",
    input: { jsonSchema: { type: "object" } },
    approval: "always",
    run: async (input) => {
      removed.push(JSON.stringify(input));
      return "gone";
    },
  });
  const model = scriptedModel([
    toolCalls([{ name: "remove", arguments: { file: "a\u{E0141}\u2028" } }], { delayMs: 100 }),
    reply("Well."),
    reply("And that."),
  ]);
  const held = hold(model, { isTerminal: true, tools: [remove], machine: { tools: [remove.declaration] } });
  return { removed, model, held };
};

test("text typed before an approval is not an answer to it, but the next question", async () => {
  const { removed, model, held } = removing();
  const { clock, input, outcome, until, written } = held;
  await until("> ");
  input.write("Remove a.\r");
  await until("Remove a.\r\n");
  input.write("y\ry");
  await clock.advance(100);
  await until("y runs it");
  expect(written()).toContain(String.raw`remove {"file":"a\udb40\udd41\u2028"} waits`);
  expect(removed).toEqual([]);
  input.write("no, thanks\r");
  await until("And that.");
  await until("> y");
  input.write("\u0015\u0004");
  await outcome;
  expect(removed).toEqual([]);
  const last = model.calls.map(({ messages }) => JSON.stringify(messages.at(-1)));
  expect(last).toEqual(["Remove a.", "thanks", '"y"'].map((each) => expect.stringContaining(each)));
});

test.each([
  ["y", true],
  ["YES", true],
  ["always", true],
  ["n", false],
  ["no: not that one", false],
  ["n not that one", false],
])("%s answers, and what only begins like an answer is asked about again", async (answer, isRun) => {
  const { removed, held } = removing();
  const { clock, input, outcome, until, written } = held;
  await until("> ");
  input.write("Remove a.\r");
  await clock.advance(100);
  await until("y runs it");
  for (const text of ["A file?", "a", "yes but why", "nothing", "y."]) {
    const asked = "y, n or always?";
    const count = written().split(asked).length;
    input.write(`${text}\r`);
    await expect.poll(() => written().split(asked)).toHaveLength(count + 1);
  }
  input.write(`${answer}\r`);
  await until("Well.");
  input.write("\u0004");
  await outcome;
  expect(removed).toHaveLength(isRun ? 1 : 0);
});
