import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { withPostgres } from "../../../runtime-node/test/stores/postgres/server.ts";
import { type ChildOptions, leaseTtlMs } from "./child.ts";

/** The points at which processes die: after both drafts, then after the nested model call. The last one lives. */
const deaths = [3, 3, null];
const calls = 2;

/** Kills processes in the middle of calls, until one finishes. Returns their notes. */
const crashed = async (store: ChildOptions["store"], notes: string): Promise<readonly string[]> => {
  for (const [before, diesAt] of deaths.entries()) {
    const options: ChildOptions = { store, notes, diesAt, calls, aheadMs: 2 * leaseTtlMs * before };
    const child = spawn(process.execPath, [join(import.meta.dirname, "child.ts"), JSON.stringify(options)], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    const [code, signal] = await once(child, "exit");
    expect([diesAt, code, signal]).toEqual([diesAt, ...(diesAt === null ? [0, null] : [null, "SIGKILL"])]);
  }
  return readFileSync(notes, "utf8").trim().split("\n");
};

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "colloquy-session-"));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
};

const checked = (notes: readonly string[]): void => {
  const after = (place: number): readonly string[] => notes.slice(place + 1);
  // A nested call with a journalled answer is not repeated.
  for (const [place, note] of notes.entries()) {
    if (note.startsWith("journalled ")) expect(after(place)).not.toContain(note.replace("journalled", "called"));
  }
  // The check would be empty if nothing had been journalled before the deaths.
  expect(notes.some((note) => note.startsWith("journalled qa/1/draft"))).toBe(true);
  expect(notes.some((note) => note.startsWith("journalled qa/child/1/think"))).toBe(true);
  // No turn is lost or repeated.
  expect(notes.filter((note) => !note.startsWith("called ")).slice(-calls - 1)).toEqual([
    "answered 0, about 1, about 1, about child",
    "answered 1, about 2, about 2, about child",
    "turns 2 2",
  ]);
};

test("a session on SQLite whose process is killed loses no turn, and repeats no nested call that was answered", async () => {
  const made = folder();
  checked(await crashed({ path: join(made, "threads.db") }, join(made, "notes")));
});

withPostgres("a session on PostgreSQL", (server) => {
  test("whose process is killed loses no turn, and repeats no nested call that was answered", async () => {
    const store = { url: await server.url(), schema: server.schema() };
    checked(await crashed(store, join(folder(), "notes")));
  });
});
