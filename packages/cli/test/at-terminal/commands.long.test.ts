import { slashCommands } from "@colloquy/cli/terminal";
import { expect, onTestFinished, test } from "vitest";
import { chatServer } from "./chat-server.ts";
import { escaped, Shell } from "./shell.ts";

/**
 * A typed line and the text that then appears: below it, in a view, or as an error, which leaves the line in the input.
 */
type Step = readonly [typed: string, shows: RegExp, how?: "view" | "error"];

const newThread = /^ {2}new thread thread-[\w-]+$/m;

const steps: readonly Step[] = [
  ["/tree", /nothing was said yet/, "error"],
  ["What is tea?", /^What is tea\?, 1 messages\nAgent \([\d.]+ m?s, 1 step, \d+ tokens: \d+ in, \d+ out\)$/m],
  ["And cake?", /^And cake\?, 3 messages\n[^]*^thread first · 2 turns/m],

  ["/help", /^Commands[^]*\/help +lists the commands\n\/usage +the turns/, "view"],
  ["/keys", /^Keys[^]*enter +sends what is typed/, "view"],
  ["/usage", /^ {2}thread first: 2 turns, 2 steps, \d+ tokens/m],
  ["/context", /^The next prompt[^]*prompt +\d+ tokens, no bound[^]*keep-all/, "view"],
  ["/explain", /^The next prompt[^]*● 1 user What is tea\?[^]*> ● 2 assistant/, "view"],
  ["/tree", /^Tree of first[^]*● 1 What is tea\?[^]*> ● 2 And cake\? {2}head/, "view"],
  ["/transcript", /^Transcript of first[^]*> What is tea\?[^]*> And cake\?/, "view"],
  ["history", /^Transcript of first/, "view"],
  ["/at 3", /^Entry 3 of first[^]*event +ask\.received/, "view"],
  ["/at tea", /tea is not a whole number: \/at \[ENTRY\]/, "error"],
  ["/at 99", /no entry 99/, "error"],
  ["/diff 1 3", /^Entries 1 and 3 of first[^]*\+ +And cake\?/, "view"],
  ["/diff 1", /this takes the numbers of two entries/, "error"],
  ["/threads", /^Threads:[^]*> What is tea\? .* first/, "view"],
  ["/search cake", /^Search: cake[^]*And cake\?/, "view"],
  ["/search", /this takes more: \/search WORDS/, "error"],

  ["/undo", /took back turn 2: And cake\?[^]*1 turn /],
  ["/undo tea", /tea is not a whole number: \/undo \[N\]/, "error"],
  ["/redo", /brought back turn 2: And cake\?[^]*2 turns /],
  ["/redo 1", /there is nothing to bring back/, "error"],
  ["/branch 1", /the thread continues after turn 1/],
  ["/branch 9", /no\s+closed\s+turn 9/, "error"],
  ["/checkpoint here", /this place is called here; \/restore here comes back to it/],
  ["/checkpoint", /this takes more: \/checkpoint NAME/, "error"],
  ["/restore here", /the thread continues at here/],
  ["/restore there", /no checkpoint "there"; there are: here/, "error"],
  ["save Now", /this place is called Now/],
  ["restore Now", /the thread continues at Now/],
  ["/copy", /copied the answer of turn 1/],
  ["/copy 9", /turn 9 has no answer/, "error"],
  [
    "/redact 2",
    /this takes the words of turn 2 out of the journal, and no undo brings them\s+back; \/redact 2 yes does it/,
  ],
  ["/redact 2 yes", /turn 2 is redacted: 2 entries lost their words/],
  ["/redact tea", /tea is not a whole number: \/redact TURN/, "error"],

  ["/system Be brief.", /the next answer has the new system prompt/],
  ["/system", /^ {2}Be brief\.$/m],
  ["/model large", /^ {2}the model is large$/m],
  ["/model", /^ {2}the model is large; there are gpt-4o-mini, loopback$/m],
  ["/theme", /the theme is dark; there are dark, light/],
  ["/theme pink", /there is no theme pink; there are dark, light/, "error"],
  ["/theme light", /the theme is light/],
  ["/rename Tea time", /the thread is called Tea time/],
  ["/rename", /this takes more: \/rename NAME/, "error"],
  ["/export first.jsonl", /exported \d+ turns? \(\d+ messages?\) to first\.jsonl/],
  ["/export first.jsonl", /first\.jsonl is there already; name another file: \/export FILE/, "error"],

  ["/fork 1", /a copy of thread first up to turn 1\n {2}continuing thread thread-[\w-]+: 1 turn/],
  ["/fork 9", /no\s+closed\s+turn 9/, "error"],
  ["/compact", /the next question comes after this summary of 1 turn:\n {2}\*\*Sum up/],
  ["/resume first", /continuing thread first: 1 turn/],
  ["/resume nowhere", /there is no thread nowhere; \/threads lists them/, "error"],
  ["/clear", /the thread begins again; \/redo brings back[^]*^thread first$/m],
  ["clear", /the thread begins again/],
  ["/reset", /the thread begins again, with its first system prompt/],
  ["/new", newThread],
  ["/thread second", /new thread second/],
  ["/thread", /\/thread needs an id; the present one is second/, "error"],
  ["Here?", /^Here\?, 1 messages\n[^]*^thread second · 1 turn/m],
  ["/delete", /this deletes thread second with all that was said in it; \/delete yes does it/],
  ["/delete yes", /^ {2}thread second is deleted\n {2}new thread thread-/m],
  ["/undone", /there is no command \/undone \(did you mean \/undo\?\); \/help lists them/, "error"],
];

/** The commands that accept any argument. */
const neverWrong = ["/system", "/model"];

const nameIn = (typed: string): string => typed.split(" ")[0] ?? "";

test("each command works at a terminal, and an invalid line gets an error and stays in the input", async () => {
  const { server } = await chatServer();
  onTestFinished(() => server.close());
  const shell = new Shell({ OPENAI_BASE_URL: server.url });
  onTestFinished(() => shell.end());
  const { terminal } = shell;
  await shell.run("colloquy chat --store threads.db --thread first", "new thread first");
  for (const [typed, shows, how] of steps) {
    if (how === "view") {
      await shell.type(typed);
      shell.press("enter");
      await terminal.until((screen) => terminal.cells.isAlternate && shows.test(screen));
      shell.press("escape");
      await terminal.until(() => !terminal.cells.isAlternate);
    } else if (how === "error") {
      await shell.enter(typed, new RegExp(`^ {2}error: .*${shows.source}[^]*^> ${escaped(typed)}$`, "m"));
      shell.press("ctrl+u");
      await shell.untilInput("");
    } else await shell.enter(typed, shows);
  }
  await shell.type("/quit");
  shell.press("enter");
  expect(await shell.left()).toBe(0);
});

test("these tests cover every command, and an invalid argument of each that takes one", () => {
  const named = (how: (step: Step) => boolean): ReadonlySet<string> =>
    new Set(steps.filter(how).map(([typed]) => nameIn(typed)));
  const performed = named(([, , how]) => how !== "error");
  const wrong = named(([, , how]) => how === "error");
  const names = slashCommands.map(({ name }) => name);
  expect(names.filter((name) => !performed.has(name) && name !== "/quit")).toEqual([]);
  const taking = slashCommands.filter(({ usage }) => usage !== "").map(({ name }) => name);
  expect(taking.filter((name) => !wrong.has(name) && !neverWrong.includes(name))).toEqual([]);
});
