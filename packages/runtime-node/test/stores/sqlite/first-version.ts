import { DatabaseSync } from "node:sqlite";

import type { StoredThread } from "@colloquy/host";

import { migrate, steps } from "../../../src/stores/sqlite/schema.ts";

/** Writes a file as the first released version left it, and tells what a listing has to say of its threads, oldest first. */
export const writeFirstVersion = (path: string): readonly StoredThread[] => {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL");
  migrate(database, path, steps.slice(0, 1));
  const addThread = database.prepare("INSERT INTO threads (thread) VALUES (?)");
  const addEntry = database.prepare("INSERT INTO entries (place, body) VALUES (?, ?)");
  for (const [index, [threadId, ...bodies]] of journals.entries()) {
    addThread.run(threadId);
    for (const [seq, body] of bodies.entries()) addEntry.run((index + 1) * 2 ** 26 + seq, body);
  }
  database.exec("UPDATE last_token SET token = 7");
  database.close();
  return [
    { threadId: "damaged", seq: 1, createdAt: 0, updatedAt: 5, metadata: {} },
    { threadId: "ada 🙂", seq: 1, createdAt: 100.5, updatedAt: 300, metadata: { user: "ada", odd: "\ud800" } },
    { threadId: "plain", seq: 1, createdAt: 200, updatedAt: 200, metadata: {} },
  ];
};

const journals: readonly (readonly [threadId: string, ...bodies: string[]])[] = [
  [
    "plain",
    JSON.stringify({ format: 2, event: { type: "thread.started", at: 200, threadId: "plain", system: "hello" } }),
    '{"type":"ask.rec',
  ],
  [
    "ada 🙂",
    JSON.stringify({
      format: 2,
      event: { type: "thread.started", at: 100.5, threadId: "ada", metadata: { user: "ada", odd: "\ud800" } },
    }),
    JSON.stringify({ type: "ask.received", at: 300, askId: "a", input: "Hello!" }),
  ],
  ["damaged", '{"format":2,"event":{"type":"thread.st', JSON.stringify({ type: "timer.fired", at: 5, effectId: "1" })],
];
