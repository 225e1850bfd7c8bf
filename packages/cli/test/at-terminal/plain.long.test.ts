import { stripVTControlCharacters } from "node:util";
import type { LoopbackServer } from "@colloquy/runtime-test/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chatServer } from "./chat-server.ts";
import { Shell } from "./shell.ts";
import { toolsModule } from "./tools-module.ts";

let server: LoopbackServer;
let shell: Shell;
beforeAll(async () => {
  ({ server } = await chatServer());
  shell = new Shell({ OPENAI_BASE_URL: server.url });
  toolsModule(shell.folder);
});
afterAll(async () => {
  shell.end();
  await server.close();
});

/** Returns all output to the terminal since the command started. */
const sent = (): string => shell.terminal.cells.raw.slice(shell.terminal.cells.raw.lastIndexOf("chat --"));

/** Has a tool called, another approved, an answer stopped and the tree shown, then leaves. */
const conversed = async (): Promise<void> => {
  await shell.enter("look Oslo", /It is rain[^]*and wind in Oslo\.[^]*\d tokens: \S+ in, \S+ out\)$/m);
  await shell.enter("mail Ada", /mail \{"for":"Ada"\} waits for an approval[^]*always runs this tool/m);
  await shell.enter("y", /It is sent to Ada\.[^]*\d tokens: \S+ in, \S+ out\)$/m);
  await shell.enter("never", /^It will$/m);
  await shell.pressUntil("ctrl+c", /It will\n.*cancelled$/m);
  await shell.enter("/tree", /● 1 look Oslo[^]*✗ 3 never {2}head {2}cancelled/);
  await shell.enter("/theme light", /error: there is only one theme here/);
  await shell.type("/quit");
  shell.press("enter");
};

test("--screen-reader is in lines that say what each is, rings at the end of an answer, and never goes up", async () => {
  await shell.run("colloquy chat --screen-reader --tools tools.mjs", "new thread chat");
  await conversed();
  expect(await shell.left()).toBe(0);
  const [before = ""] = sent().split("modes");
  expect(stripVTControlCharacters(before)).toMatch(
    /^You: look Oslo\s+Tool: look \{"for":"Oslo"\}\s+Agent:\s+It is rain/m,
  );
  expect(before.split("\x07")).toHaveLength(4);
  // oxlint-disable-next-line no-control-regex -- these move the cursor up or to a place, switch screens, or set a title.
  expect(before).not.toMatch(/\x1b\[\d*(?:[AFdH]|;)|\x1b\[\?1049|\x1b\]|\x1bM/);
});

test("TERM=dumb is in lines without a control sequence", async () => {
  await shell.run("TERM=dumb colloquy chat --tools tools.mjs", "new thread chat");
  await conversed();
  expect(await shell.left()).toBe(0);
  expect(sent().split("modes")[0]).not.toContain("\x1b");
});

test("--theme is the theme at first, and --no-color takes its colours", async () => {
  // oxlint-disable-next-line no-control-regex -- these are colours.
  const coloured = /\x1b\[(?:[\d;]*;)?(?:3[0-7]|9[0-7])(?:;[\d;]*)?m/;
  await shell.run("colloquy chat --theme light", "new thread chat");
  await shell.enter("/theme", /^ {2}the theme is light; /m);
  await shell.enter("# Hi", /^.*Hi, 1 messages\nAgent /m);
  shell.press("ctrl+d");
  expect(await shell.left()).toBe(0);
  const light = sent();
  await shell.run("colloquy chat --no-color", "new thread chat");
  await shell.enter("# Hi", /^.*Hi, 1 messages\nAgent /m);
  shell.press("ctrl+d");
  expect(await shell.left()).toBe(0);
  expect({ light: coloured.test(light), none: coloured.test(sent()) }).toEqual({ light: true, none: false });
});
