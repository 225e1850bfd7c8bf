import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { shellIn } from "../src/shell.ts";
import { testFolder } from "./test-folder.ts";

const { at, folder, write } = testFolder();
const never = new AbortController().signal;
const { run } = shellIn(folder, true);

test("a command runs in the folder, and both of its outputs are kept", async () => {
  write("sheep.txt", "two sheep\n");
  expect(await run("cat sheep.txt; echo lost >&2", never)).toEqual({
    output: "two sheep\nlost\n",
    ending: "exit code 0",
  });
  expect(await run("exit 3", never)).toEqual({ output: "", ending: "exit code 3" });
});

test("of a long output the end is kept", async () => {
  const { output } = await run(`${process.execPath} -e "console.log('a'.repeat(50000) + 'z')"`, never);
  expect([output.length, output.slice(-2)]).toEqual([20_000, "z\n"]);
});

test("a command is stopped with all that it started", async () => {
  const stopping = new AbortController();
  const ended = run("echo begun; sleep 1000 & sleep 1000", stopping.signal);
  stopping.abort();
  expect((await ended).ending).toBe("stopped");
});

test("a command that a signal ended is not said to have taken too long", async () => {
  expect((await run("kill -9 $$", never)).ending).toBe("ended by SIGKILL");
});

test("a command is stopped although a process that left its group still has its outputs", async () => {
  const stopping = new AbortController();
  execFileSync("mkfifo", [at("left")]);
  write(
    "leave.js",
    `const child = require("node:child_process").spawn("sleep", ["1000"], { detached: true, stdio: "inherit" });
     require("node:fs").writeFileSync("left", String(child.pid)); process.exit();`,
  );
  const ended = run(`${process.execPath} leave.js`, stopping.signal);
  const pid = Number(await readFile(at("left"), "utf8"));
  stopping.abort();
  expect((await ended).ending).toBe("stopped");
  process.kill(pid, "SIGKILL");
});

test("in a folder that is not trusted nothing runs", async () => {
  await expect(shellIn(folder, false).run("true", never)).rejects.toThrow('name it in your "trust"');
});
