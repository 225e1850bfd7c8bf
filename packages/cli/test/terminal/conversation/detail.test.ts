import { reply, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { onScreen } from "./screen.ts";

const looking = () =>
  scriptedModel([
    toolCalls([{ name: "look", arguments: { at: "x".repeat(100) } }], {
      content: "Let me see.",
    }),
    reply("Blue."),
  ]);

test("with nothing beside answers, a question and its answer are all that is shown", async () => {
  const { until, finished } = onScreen(looking(), { question: "What colour?", detail: "none" });
  await until("Blue.");
  await until(/\nthread here · 1 turn.*$/);
  expect(finished()).toBe("\n> What colour?\nLet me see.\nBlue.");
});

test("with all of it, calls and thinking are shown whole", async () => {
  const { until, finished } = onScreen(looking(), { question: "What colour?", detail: "all" });
  await until("Agent");
  expect(finished()).toContain(`● look {"at":"${"x".repeat(100)}"}\n  └ refused: There is no tool "look".`);
});

test("what a command says is shown in any case, and so is what others have to say", async () => {
  let show = (_: string): void => {};
  const { ask, until } = onScreen(scriptedModel([]), { detail: "none", notices: (given) => (show = given) });
  await ask("/theme", "there is only one theme here");
  show("prompt of turn 1");
  await until("  prompt of turn 1\n");
});

test("an answer that is not to stream is shown when it is whole, and what it is asked after stands above it", async () => {
  const model = scriptedModel([streams(["One.\n\n", { text: "Two.", delayMs: 1000 }])]);
  const { until, clock, screen, status, conversation } = onScreen(model, { question: "Count.", streams: false });
  const seen: string[] = [];
  conversation.onChange(() => seen.push(screen()));
  await until("answers, Esc stops");
  await clock.advance(1000);
  await until("Agent");
  expect(status()).toContain("1 turn");
  expect(seen.filter((each) => each.includes("One.") && !each.includes("Two."))).toEqual([]);
});
