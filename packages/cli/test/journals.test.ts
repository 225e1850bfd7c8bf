import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry } from "@colloquy/machine";
import { afterAll, describe, expect, test } from "vitest";
import { journalOf, linesOf } from "./journal.ts";
import { run } from "./run-command.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-journals-"));

afterAll(() => rmSync(folder, { recursive: true }));

const write = (name: string, content: string): string => {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, content);
  return path;
};

/** Returns a journal of `count` turns. */
const turns = (count: number): readonly Entry[] =>
  journalOf(
    "t",
    ...Array.from({ length: count }, (_, index) => [`Question ${index + 1}?`, `Answer ${index + 1}.`] as const),
  );

const policiesPath = JSON.stringify(new URL("../../machine/src/policies.ts", import.meta.url).href);
const optionsModule = (name: string, options: string): string =>
  write(name, `import { lastTurns } from ${policiesPath};\nexport default ${options};\n`);

const long = write("recorded/long.jsonl", linesOf(turns(4)));
const short = write("recorded/deeper/short.jsonl", linesOf(turns(1)));
const torn = write("torn.jsonl", `${linesOf(turns(1))}{"seq":`);
const gap = write("gap.jsonl", linesOf(turns(2).filter(({ seq }) => seq !== 2)));
const lastOne = optionsModule("last-one.ts", "{ policy: lastTurns(1) }");

describe("colloquy compare", () => {
  test("compares files and folders, and reports the differences", async () => {
    const { exitCode, output, error } = await run("compare", join(folder, "recorded"), "--after", lastOne);
    expect(error).toBe("");
    expect(output).toContain(`${short}: 1 call, the same prompts\n`);
    expect(output).toContain(`${long}: 4 calls, 2 with another prompt; the first at entry 5 (turn 3, step 1)`);
    expect(output).toMatch(/policy +keep-all@1 +last-turns@1\n/);
    expect(output).toMatch(/^--before is not given: that side keeps everything\n/);
    expect(exitCode).toBe(0);
  });

  test("without modules compares keeping all with itself", async () => {
    const { output } = await run("compare", long);
    expect(output).toContain("4 calls, the same prompts");
    expect(output).not.toContain("is not given");
  });

  test("goes through conversations that were imported", async () => {
    const said = ["1?", "One.", "2?", "Two."].map((content, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content,
    }));
    const store = join(folder, "imported.db");
    await run(
      "import",
      write("said.json", JSON.stringify(said)),
      "--from",
      "chat",
      "--thread",
      "said",
      "--store",
      store,
    );
    const imported = write("imported.jsonl", (await run("export", "said", "--store", store)).output);
    const forgetful = optionsModule("forgetful.ts", "{ policy: lastTurns(0) }");
    const { exitCode, output } = await run("compare", imported, "--after", forgetful);
    expect(output).toContain(`${imported}: 2 calls (2 of them imported), 1 with another prompt; the first at entry 2 `);
    expect(output).toMatch(/^prompts sent +2 +2$/m);
    expect(exitCode).toBe(0);
  });

  test("fails where there is nothing to compare", async () => {
    const unanswered = write("unanswered.jsonl", linesOf(turns(1).slice(0, 1)));
    const { exitCode, output, error } = await run("compare", unanswered);
    expect(output).toBe(`${unanswered}: nothing to compare: no model call was made in it\n`);
    expect(error).toMatch(/^colloquy: nothing to compare/);
    expect(exitCode).toBe(1);
    const both = await run("compare", unanswered, short);
    expect(both).toMatchObject({ exitCode: 0, error: "" });
  });

  test("gives 1 where the second configuration breaks a law, and 0 where the first does", async () => {
    const narrow = optionsModule("narrow.ts", "{ budget: { tokens: 20, reserve: 0 } }");
    const broken = await run("compare", long, "--after", narrow);
    expect(broken.output).toContain("laws broken after:\n  fits  ");
    expect(broken.exitCode).toBe(1);
    expect((await run("compare", long, "--before", narrow)).exitCode).toBe(0);
  });

  test("skips unreadable files, and exits with 1", async () => {
    const some = await run("compare", torn, long);
    expect(some.error).toBe(`colloquy: ${torn} can't be read: the last line, 4, is cut off: "{\\"seq\\":"\n`);
    expect(some.exitCode).toBe(1);
    expect((await run("compare", torn)).exitCode).toBe(1);
    const none = await run("compare", gap);
    expect(none.output).toContain("can't be compared: entry 2: entry 3 stands where 2 should");
    expect(none.exitCode).toBe(1);
  });
});

describe("colloquy explain", () => {
  test("shows the messages of the next prompt, and the reasons", async () => {
    const { exitCode, output } = await run("explain", long, "--options", lastOne);
    expect(output).toMatch(/ 3 {2}3\.0 +user +Question 3\? +out +0 +\d+ {2}older than the last 1 turns\n/);
    expect(output).toMatch(/ 4 {2}4\.0 +user +Question 4\? +whole /);
    expect(exitCode).toBe(0);
  });

  test("as of an entry", async () => {
    const { output } = await run("explain", long, "--at", "3");
    expect(output).toContain("2.0");
    expect(output).not.toContain("2.1");
  });
});

describe("what is invalid", () => {
  const empty = join(folder, "empty");
  mkdirSync(empty);
  const refused: readonly (readonly [args: readonly string[], message: string])[] = [
    [["compare"], "name journals"],
    [["compare", "nowhere.jsonl"], 'there is no file or folder "nowhere.jsonl"'],
    [["compare", empty], "has no .jsonl file in it"],
    [["compare", long, "--after", "nowhere.ts"], 'the module "nowhere.ts" can\'t be loaded'],
    [["compare", long, "--after", write("list.ts", "export default [];\n")], "its default export is a list"],
    [["compare", long, "--after", write("named.ts", "export const options = {};\n")], "its default export is missing"],
    [["compare", long, "--after", write("typo.ts", "export default { polcy: 1 };\n")], 'no option "polcy"'],
    [
      ["compare", long, "--before", optionsModule("negative.ts", "{ budget: { tokens: -1, reserve: 0 } }")],
      '"tokens":-1',
    ],
    [["compare", long, "--thread", "ada"], "compare has no option --thread; it has --before, --after"],
    [["chat", "--at", "3"], "chat has no option --at"],
    [["explain"], "explain takes one journal"],
    [["explain", long, short], "2 are named"],
    [["explain", join(folder, "recorded")], 'recorded" is a folder; name one .jsonl file'],
    [["explain", "nowhere.jsonl"], 'there is no file or folder "nowhere.jsonl"'],
    [["explain", torn], "the last line, 4, is cut off"],
    [["explain", gap], "entry 3 stands where 2 should"],
    [["explain", long, "--at", "9"], '--at is "9"; it is the number of an entry, from 0 to 8'],
    [["explain", long, "--at", "-1"], '--at is "-1"; it is the number of an entry, from 0 to 8'],
    [["explain", long, "--at", "x"], '--at is "x"'],
  ];

  // The folder's name differs from run to run, but test names must not.
  const named = refused.map(([args, ...rest]) => [args.join(" ").replaceAll(folder, "…"), args, ...rest] as const);

  test.each(named)("is refused, by its name: %s", async (_, args, message) => {
    const { exitCode, error, output } = await run(...args);
    expect(error).toContain(message);
    expect(output).toBe("");
    expect(exitCode).toBe(2);
  });
});
