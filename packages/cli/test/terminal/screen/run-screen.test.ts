import { expect, test } from "vitest";
import { runScreen, themeNamed } from "../../../src/terminal/index.ts";
import { FakeTerminal } from "../kit/fake-terminal.ts";
import { ScriptedConversation } from "../kit/scripted-conversation.ts";

test("a scripted conversation is drawn, and taken away at its end", async () => {
  const terminal = new FakeTerminal({ columns: 40, rows: 10 });
  const conversation = new ScriptedConversation();
  conversation.finish("hello");
  conversation.open = ["an answer"];
  const run = runScreen({
    conversation: () => conversation,
    input: terminal.input,
    output: terminal.output,
    theme: themeNamed("dark"),
  });
  await terminal.until((screen) => screen.includes("idle"));
  expect(terminal.cells.screen().slice(0, 5)).toEqual(["hello", "an answer", "idle", ">", ""]);
  terminal.type("日本x");
  await terminal.until((screen) => screen.includes("本x"));
  expect(terminal.cells.cursor()).toEqual({ column: 7, row: 3 });
  conversation.finish("an answer that is longer than forty columns, so that the terminal wraps it");
  conversation.open = [];
  conversation.changed();
  await terminal.until((screen) => screen.includes("longer"));
  expect(terminal.cells.lines().slice(0, 4)).toEqual([
    "hello",
    "an answer that is longer than forty columns, so that the terminal wraps it",
    "idle",
    "> 日本x",
  ]);
  conversation.end();
  await run;
  await terminal.cells.settled();
  expect(terminal.cells.lines().filter(Boolean)).toEqual([
    "hello",
    "an answer that is longer than forty columns, so that the terminal wraps it",
  ]);
});

test("a conversation that ends right behind a frame leaves what was said last, and nothing of the frame", async () => {
  for (let round = 0; round < 5; round++) {
    const terminal = new FakeTerminal({ columns: 40, rows: 10 });
    const conversation = new (class extends ScriptedConversation {
      override drawn(): void {
        if (this.input !== "x" || this.status === "ending") return;
        this.finish("said last");
        this.status = "ending";
        this.end();
      }
    })();
    const run = runScreen({
      conversation: () => conversation,
      input: terminal.input,
      output: terminal.output,
      theme: themeNamed("dark"),
    });
    await terminal.until((screen) => screen.includes("idle"));
    terminal.type("x");
    await run;
    await terminal.cells.settled();
    expect(terminal.cells.lines().filter(Boolean)).toEqual(["said last"]);
  }
});
