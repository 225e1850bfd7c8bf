import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { VirtualClock } from "@colloquy/runtime-test";
import type { LoopbackServer } from "@colloquy/runtime-test/server";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { chatServer } from "./chat-server.ts";
import { Shell } from "./shell.ts";
import { toolsModule } from "./tools-module.ts";

let current: { readonly server: LoopbackServer; readonly clock: VirtualClock };
beforeAll(async () => {
  current = await chatServer();
});
afterAll(() => current.server.close());

const shells: Shell[] = [];
afterEach(() => shells.splice(0).forEach((shell) => shell.end()));

const begun = async (options: string): Promise<Shell> => {
  const shell = new Shell({ OPENAI_BASE_URL: current.server.url, EDITOR: "./editor" });
  shells.push(shell);
  // A shell may lose a Ctrl+C that comes right before it runs another program.
  const editor = 'console.log("the editor is open");\nsetTimeout(() => {}, 600_000);\n';
  writeFileSync(join(shell.folder, "editor"), `#!${process.execPath}\n${editor}`);
  chmodSync(join(shell.folder, "editor"), 0o700);
  toolsModule(shell.folder);
  await shell.run(`colloquy chat --tools tools.mjs ${options}`, "new thread chat");
  return shell;
};

/** Matches an answer that was stopped. */
const stopped = (question: string): RegExp => new RegExp(`^> ${question}\\n(?:.*\\n)*? {2}stopped\\nAgent `, "m");

describe("Ctrl+C", () => {
  test("in every state ends what is nearest, and nothing else", async () => {
    const shell = await begun("");
    await shell.type("/un");
    await shell.until("takes back the last turn");
    shell.press("ctrl+c");
    await shell.untilInput("");
    expect(shell.terminal.cells.screen().join("\n")).not.toContain("takes back the last turn");

    await shell.type("kept");
    await shell.pressUntil("ctrl+r", "search:");
    shell.press("ctrl+c");
    await shell.untilInput("kept");
    await shell.pressUntil("ctrl+g", "the editor is open");
    shell.press("ctrl+c");
    await shell.untilInput("kept");
    shell.press("ctrl+c");
    await shell.untilInput("");

    await shell.enter("never 1", /^It will$/m);
    await shell.pressUntil("ctrl+t", "Transcript of chat");
    shell.press("ctrl+c");
    await shell.terminal.until(() => !shell.terminal.cells.isAlternate);
    await shell.type("more");
    await shell.pressUntil("ctrl+c", stopped("never 1"));
    await shell.untilInput("more");
    await shell.pressUntil("ctrl+c", "chat · 1 turn");
    await shell.untilInput("");

    await shell.enter("never 2", /^It will$/m);
    await shell.type("After");
    await shell.pressUntil("tab", "1 queued");
    await shell.pressUntil("ctrl+c", /^> After\nAfter, \d+ messages\nAgent /m);

    await shell.enter("look ever", /^○ look/m);
    await shell.type("Also");
    await shell.pressUntil("enter", /^> Also {2}\(sent: /m);
    await shell.pressUntil("ctrl+c", stopped("look ever"));
    await shell.until("it is back in the input");
    await shell.untilInput("Also");
    shell.press("ctrl+c");
    await shell.untilInput("");

    await shell.enter("mail Ada", /^⁇ run mail\?/m);
    await shell.pressUntil("ctrl+c", stopped("mail Ada"));
    await shell.until("⁇ mail was not answered");
    await shell.enter("mail Bob", /^⁇ run mail\?/m);
    await shell.answer("n", /^why not\?$/m);
    await shell.pressUntil("ctrl+c", stopped("mail Bob"));
    await shell.untilInput("");

    await shell.pressUntil("ctrl+c", "Ctrl+C again quits");
    await shell.type("no");
    shell.press("ctrl+c");
    await shell.untilInput("");
    await shell.enter("Hi", /^Hi, \d+ messages\nAgent /m);
    await shell.pressUntil("ctrl+c", "Ctrl+C again quits");
    shell.press("ctrl+c");
    expect(await shell.left()).toBe(0);
  });
});

test("pastes of 5,000 characters come whole while an answer comes, marked and cut anywhere, or not marked", async () => {
  const shell = await begun("");
  const text = `${Array.from({ length: 100 }, (_, line) => `${line} é日本 `.padEnd(49, "x")).join("\r")}!`;
  const bytes = Buffer.from(`${text}\x1b[201~`);
  await shell.enter("slow 1", /^It was$/m);
  // Sent whole: a lone escape soon counts as that key, and a busy machine may take longer for the rest.
  shell.terminal.type("\x1b[200~");
  for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7) % 61) {
    shell.terminal.type(bytes.subarray(at, at + size));
    if (at % 10 === 0) await current.clock.advance(1);
  }
  await shell.untilInput("[paste #1: 5,000 characters]");
  shell.terminal.type(text);
  // On a busy machine it may arrive in two parts, each its own paste.
  await shell.terminal.until((screen) => pastedIn(screen) === 10_000);
  await current.clock.advance(10_000);
  await shell.until(/re\.\nAgent /);
  shell.press("enter");
  await shell.until(/, 3 messages\nAgent /);
  const asked = JSON.stringify(current.server.requests.at(-1)?.body);
  expect(asked).toContain(JSON.stringify(text.repeat(2).replaceAll("\r", "\n")));
  // SIGTERM to the process also ends an open answer.
  await shell.enter("never", /^It will$/m);
  process.kill(Number(readFileSync(join(shell.folder, "pid"), "utf8")), "SIGTERM");
  expect(await shell.left()).toBe(130);
});

/** Returns the number of pasted characters in an input of any number of rows. */
const pastedIn = (screen: string): number =>
  [...screen.replaceAll(/\s/g, "").matchAll(/\[paste#\d+:([\d,]+)characters\]/g)].reduce(
    (sum, [, characters = ""]) => sum + Number(characters.replaceAll(",", "")),
    0,
  );

describe("a conversation whose process is killed in the middle of an answer", () => {
  test("goes on with --continue: the answer is made, and nothing is there twice", async () => {
    const shell = await begun("--store kept.db");
    await shell.enter("Hi", /^Hi, 1 messages\nAgent /m);
    await shell.enter("slow?", /^It was$/m);
    process.kill(Number(readFileSync(join(shell.folder, "pid"), "utf8")), "SIGKILL");
    await shell.until(/^\[137\]\$$/m);

    await shell.run("colloquy chat --store kept.db --tools tools.mjs --continue", /continuing thread chat: 1 turn/);
    await shell.until(/goes on\s+> slow\?\nIt was$/m);
    await current.clock.advance(10_000);
    await shell.until(/re\.\nAgent /);
    await shell.enter("Hi again", /^Hi again, 5 messages\nAgent [^]*3 turns/m);
    const lines = shell.terminal.cells.lines();
    const since = lines.slice(lines.findLastIndex((line) => line.includes("--continue")));
    for (const line of ["> Hi", "> slow?", "> Hi again"])
      expect(since.filter((each) => each.trimEnd() === line)).toHaveLength(1);
    expect(since.join("").split("there.")).toHaveLength(2);
    shell.press("ctrl+d");
    expect(await shell.left()).toBe(0);
  });
});
