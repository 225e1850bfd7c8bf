import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fails, reply, ruleModel, scriptedModel } from "@colloquy/runtime-test/models";
import { textOf } from "@colloquy/machine";
import { expect, test } from "vitest";
import { commandIn, slashCommands } from "../../../src/terminal/index.ts";
import { textOfLine } from "../../../src/terminal/text/line.ts";
import { onScreen } from "../conversation/screen.ts";

const echo = () =>
  ruleModel([{ name: "echoes", when: () => true, answer: ({ lastUserText }) => reply(`**${lastUserText}**`) }]);

/** Opens a conversation with these answered questions. `run` sends a line and waits for the result. */
const spoken = async (questions: readonly string[]) => {
  const shown = onScreen(echo());
  const run = async (line: string, wanted: string | RegExp): Promise<void> => {
    // A refused line is back in the input.
    shown.press("ctrl+u");
    await shown.ask(line, wanted);
    if (shown.conversation.shown().view !== null) shown.press("escape");
  };
  for (const question of questions)
    await run(question, new RegExp(`> ${question}\\n.*${question}.*\\nAgent \\(.*\\)\\n\\n> \\n`, "s"));
  const path = async (): Promise<readonly number[]> => {
    const state = await shown.host.thread("here").state();
    return state === null ? [] : [state.context.conversation.head];
  };
  return { ...shown, run, path };
};

test("every command is listed with its usage, and every action with its keys, at any width", async () => {
  const { ask, press, conversation } = onScreen(echo());
  for (const [name, rows] of [
    ["/help", slashCommands.map(({ name, usage, help }) => `${`${name} ${usage}`.trim()} ${help}`)],
    ["/keys", ["home, ctrl+a moves to the line's start", "ctrl+t shows the transcript"]],
  ] as const) {
    await ask(name, /^(Commands|Keys)/);
    for (const columns of [20, 40, 80]) {
      const { lines = [] } = conversation.shown().view?.show({ columns, rows: 500 }) ?? {};
      const shown = lines.map(textOfLine).join(" ").replaceAll(/\s+/g, " ");
      for (const row of rows) expect(shown).toContain(row);
    }
    press("escape");
  }
});

test("/undo, /redo, /branch, /checkpoint, /restore, /clear and /reset move in the tree", async () => {
  const { run, path } = await spoken(["one", "two", "three"]);
  await run("/undo 2", "took back turn 2: two");
  expect(await path()).toEqual([1]);
  await run("/checkpoint first one", "this place is called first one");
  await run("/redo", "brought back turn 2: two");
  await run("/restore first one", "the thread continues at first one");
  expect(await path()).toEqual([1]);
  await run("/branch 3", "the thread continues after turn 3");
  expect(await path()).toEqual([3]);
  await run("/clear", "the thread begins again; /redo");
  expect(await path()).toEqual([0]);
  await run("/reset", "with its first system prompt");
  await run("/undo", "error: there is nothing to take back");
});

test("/rename, /fork, /thread, /threads, /resume and /new are about threads", async () => {
  const { run, host, status } = await spoken(["one", "two"]);
  await run("/rename Counting", "the thread is called Counting");
  expect((await host.thread("here").state())?.context.metadata).toEqual({ title: "Counting" });
  await run("/fork 1", /a copy of thread here up to turn 1\n.*continuing thread \S+: 1 turn/s);
  await run("/threads", /^Threads[^]*Counting/);
  await run("/resume nowhere", "error: there is no thread nowhere; /threads lists them");
  await run("/resume here", "continuing thread here: 2 turns");
  await run("/new", /new thread thread-\d+/);
  await run("/thread there", "new thread there");
  await run("/thread", "error: /thread needs an id; the present one is there");
  expect(status()).toContain("thread there");
});

test("/redact and /delete want a second yes", async () => {
  const { run, host, screen } = await spoken(["secret"]);
  await run("/redact 1", "/redact 1 yes does it");
  expect(JSON.stringify(await host.thread("here").exportJournal())).toContain("secret");
  await run("/redact 1 yes", "turn 1 is redacted");
  expect(JSON.stringify(await host.thread("here").exportJournal())).not.toContain("secret");
  await run("/delete", "/delete yes does it");
  await run("/delete yes", /thread here is deleted\n.*new thread/);
  expect(await host.thread("here").state()).toBeNull();
  expect(screen()).toContain("thread thread-");
});

test("/copy, /export, /usage, /context, and /system say what there is", async () => {
  const { run, asked } = await spoken(["one", "two"]);
  await run("/copy", "copied the answer of turn 2");
  await run("/copy 1", "copied the answer of turn 1");
  expect(asked).toEqual(["copy **two**", "copy **one**"]);
  const file = join(mkdtempSync(join(tmpdir(), "colloquy-")), "here.jsonl");
  await run(`/export ${file}`, /exported \d+ turns? \(\d+ messages?\) to /);
  expect(readFileSync(file, "utf8").split("\n")[0]).toContain("thread.started");
  await run(`/export ${file}`, "is there already; name another file");
  await run("/usage", "thread here: 2 turns, 2 steps");
  await run("/context", /prompt +/);
  await run("/system Be brief.", "the next answer has the new system prompt");
  await run("/system", /\/system\n {2}Be brief\./);
});

test.each([
  ["/tree", /^Tree of here[^]*one/],
  ["/explain", /^The next prompt[^]*one/],
  ["/transcript", /^Transcript of here[^]*one/],
  ["/at 1", /^Entry 1 of here/],
  ["/at", /^Entry \d+ of here/],
  ["/diff 1 3", /1[^]*3/],
  ["/search one", /^Search[^]*one/],
])("%s opens a view, which Esc closes", async (line, wanted) => {
  const { run, conversation } = await spoken(["one"]);
  await run(line, wanted);
  expect(conversation.shown().view).toBeNull();
});

test("the tree moves the head, forks, names a place, and has an earlier question edited", async () => {
  const { ask, path, type, press, until, input, finished } = await spoken(["one", "two"]);
  const inTree = async (...keys: readonly string[]): Promise<void> => {
    press("ctrl+u", "escape");
    await until("Esc again shows the tree");
    press("escape");
    await until(/^Tree of/);
    for (const key of keys) {
      if (key.length === 1) type(key);
      else press(key);
    }
  };
  await inTree("up", "enter");
  await until("the thread continues after turn 1");
  expect(await path()).toEqual([1]);
  await inTree("e");
  await until("editing turn 1, Esc leaves it");
  expect(input()).toBe("> one");
  await ask(" more", "> one more\none more");
  await until(/Agent \([^)]*\)\n\n> \n/);
  expect(finished()).toContain("one more");
  await inTree("c");
  await until("> /checkpoint ");
  await inTree("f");
  await until(/a copy of thread here up to turn 3[^]*continuing thread thread-\d+: 1 turn/);
});

test.each([
  ["/undo x", "x is not a whole number: /undo [N]"],
  ["/branch", "this takes a number: /branch TURN"],
  ["/branch 9", "9"],
  ["/checkpoint", "this takes more: /checkpoint NAME"],
  ["/restore nowhere", "nowhere"],
  ["/redact 9 yes", "9"],
  ["/copy 9", "turn 9 has no answer"],
  ["/model", "there is only one model here"],
  ["/theme dark", "there is only one theme here"],
  ["/diff 1", "this takes the numbers of two entries"],
  ["/undo 9", "1 turn can be taken back: /undo 1"],
  ["/redact 9", "there is no turn 9; the last is 1"],
  ["/nonesuch", "there is no command /nonesuch; /help lists them"],
  ["/undone", "there is no command /undone (did you mean /undo?); /help lists them"],
])("%s is refused in words, and is in the input again", async (line, words) => {
  const { run, type, input, finished } = await spoken(["one"]);
  await run(line, new RegExp(`error: .*${words.replaceAll(/[[\]/()?]/g, String.raw`\$&`)}`));
  expect(input()).toContain(`> ${line}`);
  type("/u");
  expect(input()).toMatch(/^> \/u(?:\n|$)/);
  expect(finished()).toContain(`  ${line}\n`);
});

test("a model and a theme are chosen by their names", async () => {
  let present = "light";
  const themes = {
    names: () => ["light", "dark"],
    present: () => present,
    choose: (name: string) => void (present = name),
  };
  const { ask } = onScreen(echo(), { themes });
  await ask("/theme", "the theme is light; there are light, dark");
  await ask("/theme dark", "the theme is dark");
});

test("/context is a table, and on a narrow screen lists", async () => {
  const { ask, conversation } = await spoken(["one"]);
  await ask("/context", /^The next prompt/);
  const at = (columns: number) => conversation.shown().view?.show({ columns, rows: 50 }).lines.map(textOfLine) ?? [];
  expect(at(100)).toContainEqual(expect.stringMatching(/^ {3}1 {2}1\.0 +user +one +whole /));
  expect(at(40)).toContainEqual(expect.stringMatching(/^1 · 1\.0 · user · one · whole · /));
});

test("the bare words of the seed count when they are the whole line", () => {
  expect(commandIn("quit")).toBe("/quit");
  expect(commandIn(" Clear ")).toBe("/clear");
  expect(commandIn("history")).toBe("/transcript");
  expect(commandIn("save Here")).toBe("/checkpoint Here");
  expect(commandIn("restore Here")).toBe("/restore Here");
  for (const text of [
    "quit it",
    "save the whales",
    "clear?",
    "/usr/bin is full",
    "a /undo",
    "constructor",
    "constructor x",
  ])
    expect(commandIn(text)).toBe(null);
});

test("the arguments of a command are offered, and Tab takes one", async () => {
  const { run, type, press, until, input } = await spoken(["one"]);
  await run("/checkpoint here", "this place is called here");
  type("/rest");
  await until("/restore NAME");
  press("tab");
  expect(input()).toContain("> /restore ");
  type("h");
  await until("> /restore h\n  here");
  press("tab");
  expect(input()).toContain("> /restore here");
  press("enter");
  await until("the thread continues at here");
});

test("/quit ends the conversation", async () => {
  const { send, conversation } = await spoken([]);
  send("/quit");
  await conversation.ended;
});

test("/compact replaces the turns by a summary that the model writes; its turns are still there", async () => {
  const model = scriptedModel([
    reply("One."),
    reply("Two."),
    reply("They count.", { expects: /^Sum up/ }),
    reply("Three."),
  ]);
  const { ask, press, host } = onScreen(model);
  await ask("/compact", "error: there is nothing to sum up yet");
  press("ctrl+u");
  await ask("One?", "One.\nAgent");
  await ask("Two?", "Two.\nAgent");
  await ask("/compact", "after this summary of 2 turns:\n  They count.");
  await ask("Three?", "Three.\nAgent");
  const { threads } = await host.threads();
  expect(threads.map(({ threadId }) => threadId)).toEqual(["here"]);
  const prompt = (await host.thread("here").explain())?.units.flatMap(({ messages }) => messages.map(textOf));
  expect(prompt).toEqual([expect.stringMatching(/^Sum up/), "They count.", "Three?", "Three."]);
  await ask("/undo", "took back turn 4: Three?");
  await ask("/undo", "took back turn 3: Sum up");
  await ask("/branch 2", "the thread continues after turn 2");
  model.assertComplete();
});

test.each([
  ["that fails", fails({ kind: "bad_request" }), "error: "],
  ["without words", reply(" "), "error: the model wrote no summary"],
])("a summary %s changes nothing", async (_, ending, problem) => {
  const { ask, host } = onScreen(scriptedModel([reply("One."), ending]));
  await ask("One?", "One.\nAgent");
  const before = await host.thread("here").state();
  await ask("/compact", problem);
  expect(await host.thread("here").state()).toEqual(before);
  expect((await host.threads()).threads).toHaveLength(1);
});

test("/compact asks for no summary while an answer is under way", async () => {
  const called = Promise.withResolvers<void>();
  const { ask, send, finished } = onScreen(({ turn }) => {
    called.resolve();
    return turn === 1 ? new Promise(() => {}) : Promise.reject(new Error("a summary was asked for"));
  });
  send("One?");
  await called.promise;
  await ask("/compact", "error: ");
  expect(finished()).toContain("error: an answer is under way: stop it first, or wait for it");
});

test("a turn that is added while the model writes a summary is not replaced by it", async () => {
  const writing = Promise.withResolvers<void>();
  const summary = Promise.withResolvers<void>();
  const answers = scriptedModel([reply("One."), reply("Only one.")]);
  const { ask, until, host } = onScreen(async (call, context) => {
    if (call.step === 1 && call.turn === 2) {
      writing.resolve();
      await summary.promise;
    }
    return answers(call, context);
  });
  await ask("One?", "One.\nAgent");
  void ask("/compact", "error");
  await writing.promise;
  await host.thread("here").addTurn([{ role: "user", content: "By the way." }]);
  summary.resolve();
  await until("error: the thread changed meanwhile");
  expect((await host.thread("here").state())?.context.conversation.head).toBe(2);
});
