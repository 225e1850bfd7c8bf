import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createHost, type Host, type Store } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { randomIds, systemClock } from "@colloquy/runtime-node";
import { describe, expect, test } from "vitest";
import { openStore } from "../src/kept-threads.ts";
import { run } from "./run-command.ts";
import { testFolder } from "./test-folder.ts";

const { folder } = testFolder();

const hostOn = (store: Store): Host =>
  createHost({
    machine: conversationMachine(),
    store,
    llm: async () => ({ type: "completed", reply: { content: "It is noted." }, finishReason: "stop" }),
    clock: systemClock,
    ids: randomIds,
  });

/** Returns the names of the store's files that contain the word. */
const filesWith = (word: string, directory: string): readonly string[] =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return filesWith(word, path);
    return readFileSync(path).includes(word) ? [path] : [];
  });

describe.each(["kept.db", "folder/"])("a redaction in %s", (name) => {
  const path = join(folder, name);

  test("that a crash interrupted is not undone by an export", async () => {
    const store = await openStore(path);
    const host = hostOn(store);
    await host.ask("the PASSWORD", { threadId: "half" });
    await host.close();
    // The process dies before the entries are rewritten.
    store.rewrite = () => Promise.reject(new Error("killed"));
    await hostOn(store)
      .thread("half")
      .redact({ turn: 1 })
      .catch(() => {});
    await store.close();
    expect(filesWith("PASSWORD", folder)).not.toEqual([]);
    for (const as of ["journal", "chat", "responses", "model", "ui"]) {
      const { exitCode, output } = await run("export", "half", "--as", as, "--store", path);
      expect({ as, exitCode, output: output.includes("PASSWORD") }).toEqual({ as, exitCode: 0, output: false });
      expect(output).toContain("[redacted]");
    }
  });

  test("reaches a letter of which a crash swallowed the answer", async () => {
    const store = await openStore(path);
    const { inbox } = store;
    if (inbox === undefined) throw new Error("no inbox");
    const event = { type: "ask.received", at: 1, askId: "a", input: "the TOPSECRET" } as const;
    await inbox.post("letters", { id: "letter", event });
    const host = hostOn({ ...bound(store), inbox: { ...inbox, unanswered: async () => [], answer: never } });
    await host.ask("the TOPSECRET", { threadId: "letters", askId: "a" });
    await host.close();
    expect(await inbox.unanswered("letters")).toHaveLength(1);
    await hostOn(store).thread("letters").redact({ turn: 1 });
    expect(await inbox.unanswered("letters")).toEqual([]);
    expect(filesWith("TOPSECRET", folder)).toEqual([]);
    await store.close();
    expect(filesWith("TOPSECRET", folder)).toEqual([]);
  });
});

const never = () => Promise.reject(new Error("killed"));

/** Returns an object with the store's methods, some of which a test replaces. */
const bound = (store: Store): Store => ({
  acquire: (...given) => store.acquire(...given),
  renew: (...given) => store.renew(...given),
  release: (...given) => store.release(...given),
  abandoned: () => store.abandoned(),
  append: (...given) => store.append(...given),
  read: (...given) => store.read(...given),
  rewrite: (...given) => store.rewrite(...given),
  saveSnapshot: (...given) => store.saveSnapshot(...given),
  readSnapshot: (...given) => store.readSnapshot(...given),
  list: (...given) => store.list(...given),
  delete: (...given) => store.delete(...given),
  close: () => store.close(),
});
