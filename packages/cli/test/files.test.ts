import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { journalOf, linesOf } from "./journal.ts";
import { run } from "./run-command.ts";
import { testFolder } from "./test-folder.ts";

const { folder, write } = testFolder();

const journal = (threadId: string): string => linesOf(journalOf(threadId, [`I am ${threadId}.`, "Hello."]));

const storeAt = (name: string): string => join(folder, name);

describe("a file that is imported", () => {
  test.each([
    ["UTF-8", (text: string) => Buffer.from(`\uFEFF${text}`)],
    ["UTF-16, as some shells write it", (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le")],
  ])("may begin with a byte order mark: %s", async (kind, encoded) => {
    const store = storeAt(`${kind.slice(0, 6)}.db`);
    const path = write(`${kind.slice(0, 6)}.jsonl`, encoded(journal("ada")));
    expect(await run("import", path, "--store", store)).toMatchObject({ exitCode: 0, output: "ada\n" });
    const messages = write("said.json", encoded('[{"role":"user","content":"Hi"}]'));
    const chat = await run("import", messages, "--from", "chat", "--thread", "said", "--store", store);
    expect(chat).toMatchObject({ exitCode: 0, output: "said\n" });
  });

  const pipe = storeAt("pipe.jsonl");
  const hasPipes = spawnSync("mkfifo", [pipe]).status === 0;

  test.skipIf(!hasPipes)(
    "is no pipe, no device and no folder, and so are all that commands read (pipes need mkfifo)",
    async () => {
      const store = storeAt("odd.db");
      const commands = [pipe, "/dev/zero"].flatMap((path) => [
        ["import", path, "--store", store],
        ["import", path, "--from", "chat", "--store", store],
        ["explain", path],
        ["compare", path],
        ["compare", write("one.jsonl", journal("one")), "--after", path],
        ["threads", "--store", path],
      ]);
      for (const args of commands) {
        const { exitCode, error } = await run(...args);
        expect({ args, exitCode, error }).toEqual({
          args,
          exitCode: expect.toBeOneOf([1, 2]),
          error: expect.stringContaining("is a pipe or a device"),
        });
      }
      const chat = await run("import", folder, "--from", "chat", "--store", store);
      expect(chat).toMatchObject({ exitCode: 1, error: expect.stringContaining("is a folder; name a file") });
      const compared = await run("compare", folder);
      expect(compared.error).toContain(`${pipe} can't be read`);
    },
  );
});

describe("several files", () => {
  const many = join(folder, "many");
  for (const name of ["one", "two", "three"]) write(join("many", `${name}.jsonl`), journal(name));
  const bad = write("many/x-bad.jsonl", "{\n");

  test("are imported one by one; what fails is named, and stops no other", async () => {
    const store = storeAt("many.db");
    const { exitCode, output, error } = await run("import", many, "--store", store);
    expect(output).toBe("one\nthree\ntwo\n");
    expect(error).toBe(`colloquy: ${bad}: line 1 is not JSON: "{"\n`);
    expect(exitCode).toBe(1);
    const again = await run("import", join(many, "one.jsonl"), join(many, "two.jsonl"), "--store", store);
    expect(again.error.match(/exists already/g)).toHaveLength(2);
    const under = await run("import", many, "--thread", "x", "--store", store);
    expect(under).toMatchObject({ exitCode: 2, error: expect.stringContaining("there are 4 files") });
    expect((await run("import", "--store", store)).error).toContain("none is named");
  });

  test("are what all threads are exported to, and come back from", async () => {
    const [store, copy] = [storeAt("all.db"), storeAt("copy.db")];
    const ids = ["ada", "Ada", "../up", "con/x y"];
    for (const id of ids) await run("import", write("any.jsonl", journal("any")), "--thread", id, "--store", store);
    const out = storeAt("all-of-them");
    const exported = await run("export", "--all", "--to", out, "--store", store);
    expect(exported).toMatchObject({ exitCode: 0, error: "" });
    expect(readdirSync(out)).toHaveLength(4);
    expect((await run("import", out, "--store", copy)).exitCode).toBe(0);
    for (const id of ids) {
      const [first, second] = [await run("export", id, "--store", store), await run("export", id, "--store", copy)];
      expect(second.output).toBe(first.output);
      expect(first.output).not.toBe("");
    }
    const twice = await run("export", "--all", "--to", out, "--store", store);
    expect(twice).toMatchObject({ exitCode: 1, output: "" });
    expect(twice.error.match(/exists already/g)).toHaveLength(4);
    expect((await run("export", "--all", "--store", store)).error).toContain("--to FOLDER");
    expect((await run("export", "ada", "--all", "--to", out, "--store", store)).error).toContain("takes no thread");
  });
});

test("an exported file is private to its owner, and does not follow an existing link", async () => {
  const store = storeAt("private.db");
  await run("import", write("ada.jsonl", journal("ada")), "--store", store);
  const to = storeAt("ada.out");
  expect(await run("export", "ada", "--to", to, "--store", store)).toMatchObject({ exitCode: 0, output: "" });
  expect(readFileSync(to, "utf8")).toBe((await run("export", "ada", "--store", store)).output);
  const planted = storeAt("planted.out");
  symlinkSync(storeAt("elsewhere"), planted);
  for (const path of [to, planted]) {
    const { exitCode, error } = await run("export", "ada", "--to", path, "--store", store);
    expect({ exitCode, error }).toMatchObject({ exitCode: 2, error: expect.stringContaining("exists already") });
  }
  expect(existsSync(storeAt("elsewhere"))).toBe(false);
  const all = storeAt("all.out");
  await run("export", "--all", "--to", all, "--store", store);
  // Windows has no such modes.
  if (process.platform === "win32") return;
  expect(statSync(to).mode & 0o777).toBe(0o600);
  expect(statSync(all).mode & 0o777).toBe(0o700);
  expect(statSync(join(all, "ada.jsonl")).mode & 0o777).toBe(0o600);
});
