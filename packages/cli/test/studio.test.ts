import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { createHost, sqliteStore } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { runCommand } from "../src/command.ts";
import { run } from "./run-command.ts";
import { testFolder } from "./test-folder.ts";

const { folder } = testFolder();

test("the page is served until the process is asked to end, with the threads of the store and other policies", async () => {
  const path = join(folder, "threads.db");
  const store = sqliteStore({ path });
  const host = createHost({ llm: scriptedModel([reply("Hi.")]), store });
  await host.ask("Hello?", { threadId: "greeting" });
  await host.close();
  await store.close();
  const ending = new AbortController();
  const output = new PassThrough();
  const exitCode = runCommand(["studio", "--store", path, "--port", "0", "--window", "2000"], {
    input: new PassThrough(),
    output,
    error: new PassThrough().resume(),
    isTerminal: false,
    environment: {},
    signal: ending.signal,
  });
  const [line] = (await once(createInterface({ input: output }), "line")) as [string];
  const url = line.replace("listening at ", "");
  expect(await (await fetch(url)).text()).toContain("<title>Colloquy Studio</title>");
  expect(await (await fetch(`${url}/api/threads`)).json()).toMatchObject({ threads: [{ threadId: "greeting" }] });
  expect(await (await fetch(`${url}/api/setup`)).json()).toMatchObject({
    policies: [
      "this studio's options",
      "everything",
      "the last 3 turns",
      "the newest that fits",
      "older turns summed up",
    ],
  });
  expect(await (await fetch(`${url}/api/prompt?thread=greeting`)).json()).toMatchObject({
    available: 1_500,
    configured: false,
  });
  ending.abort("SIGTERM");
  expect(await exitCode).toBe(0);
});

test.each<readonly [readonly string[], string]>([
  [[], "--store is missing"],
  [["--store", join(folder, "none.db")], "there is no file or folder"],
  [["threads.db"], 'studio takes options alone, and "threads.db" is none; a store is named by --store'],
])("%j is refused", async (args, words) => {
  expect(await run("studio", ...args)).toMatchObject({ exitCode: 2, error: expect.stringContaining(words) });
});
