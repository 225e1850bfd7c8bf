import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { conversationMachine, type Event, start, transition } from "@colloquy/machine";
import { fails, reply, scriptedModel } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { describe, expect, test } from "vitest";
import { run } from "./run-command.ts";
import { testFolder } from "./test-folder.ts";

const { folder } = testFolder();

const written = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

/** Records a conversation of these questions; the answer to each is `recorded`. */
const recordingOf = (...questions: readonly string[]): string => {
  const machine = conversationMachine();
  const begun = start(machine, { threadId: "t", at: 0, system: "Be wordy.", model: { model: "old" } });
  let { state } = begun;
  const later = questions.map((content) => {
    const added: Event = {
      type: "turn.added",
      at: 1,
      messages: [
        { role: "user", content },
        { role: "assistant", content: "recorded" },
      ],
    };
    const step = transition(machine, state, added);
    if (!step.handled) throw new Error(step.refusal.reason);
    ({ state } = step);
    return step.entry;
  });
  return [begun.entry, ...later].map((entry) => `${JSON.stringify(entry)}\n`).join("");
};

describe("colloquy rerun", () => {
  const one = written("one.jsonl", recordingOf("Tea\u001b[2J?"));

  test("asks the recorded questions of a server, and prints both sides", async () => {
    const metric = written("metric.mjs", "export default ({ answer }, recorded) => answer === recorded.answer;");
    const model = scriptedModel([reply("now\u001b[2J", { usage: { inputTokens: 5, outputTokens: 1 } })]);
    await using server = await loopbackServer({ model });
    const args = ["--base-url", server.url, "--model", "new", "--system", "Be brief.", "--metric", metric];
    const { exitCode, output, error } = await run("rerun", one, ...args);
    expect(error).toBe(`new at ${server.url}\n`);
    expect(output).toBe(`${one}: 1 turn asked again, 1 otherwise
  turn 1: Tea [2J?
    recorded  "recorded", score 1
    now       "now [2J", score 0

               recorded  now  change
turns                 1    1
completed             1    1
tool calls            0    0
model calls           ?    1
input tokens          ?    5
output tokens         ?    1
mean score            1    0      -1
`);
    expect(exitCode).toBe(0);
    expect(server.requests[0]?.body).toMatchObject({
      model: "new",
      messages: [{ content: "Be brief." }, { role: "user" }],
    });
  });

  test("keeps the recorded system prompt and model where none is given, and its own answers where that is asked", async () => {
    const two = written("two.jsonl", recordingOf("Tea?", "Coffee?"));
    await using server = await loopbackServer({ model: scriptedModel([reply("A"), reply("B")]) });
    const { exitCode } = await run("rerun", two, "--base-url", server.url, "--history", "own");
    expect(exitCode).toBe(0);
    expect(server.requests[1]?.body).toMatchObject({
      model: "old",
      messages: [{ content: "Be wordy." }, { content: "Tea?" }, { content: "A" }, { content: "Coffee?" }],
    });
  });

  test("fails where a turn was not completed, or a file is no journal, and asks the others", async () => {
    const broken = written("broken.jsonl", "{\n");
    const model = scriptedModel([fails({ kind: "bad_request", message: "no" })]);
    await using server = await loopbackServer({ model });
    const { exitCode, output, error } = await run("rerun", broken, one, "--base-url", server.url);
    expect(exitCode).toBe(1);
    expect(output).toContain("now       failed: ");
    expect(error).toContain("broken.jsonl can't be read: line 1 is not JSON");
  });

  test.each([
    [[], "there is nothing to ask again: name journals"],
    [[one, "--history", "none"], '--history is "none"; it must be one of: recorded, own'],
    [[one, "--metric", written("none.mjs", "export default 1;")], "has no metric: its default export is a number"],
    [[written("empty.jsonl", recordingOf())], "nothing was asked: no question is in what was read"],
  ])("%j is refused in words", async (args, reason) => {
    const { exitCode, error } = await run("rerun", ...args, "--base-url", "http://127.0.0.1:9");
    expect([exitCode, error]).toEqual([expect.toBeOneOf([1, 2]), expect.stringContaining(reason)]);
  });
});
