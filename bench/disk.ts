// Compares the size of a journal on disk with the JSON of its messages.
import { type Message, messagesOf } from "@colloquy/machine";
import { toChatMessage } from "@colloquy/interchange";
import { DatabaseSync } from "node:sqlite";
import { benchmarkHost, fileBytes, fileStore, onFile } from "./kit/hosts.ts";
import type { Figure } from "./kit/measure.ts";
import { userText } from "./kit/script.ts";

const turns = 1000;

export const benchmark = (): Promise<readonly Figure[]> =>
  onFile(async (path) => {
    const store = fileStore(path);
    const host = benchmarkHost({ store });
    const thread = host.thread("main");
    for (let turn = 1; turn <= turns; turn++) await thread.ask(userText(turn));
    const state = await thread.state();
    const entries = await store.read("main");
    await host.close();
    await store.close();
    const said = state === null ? 0 : chatBytes(messagesOf(state));
    const journal = entries.reduce<number>((bytes, entry) => bytes + Buffer.byteLength(JSON.stringify(entry)), 0);
    return [
      {
        name: `${turns} turns: entries / their messages' JSON`,
        value: journal / said,
        most: 1.5,
        note: `${journal} bytes against ${said}`,
      },
      {
        name: `${turns} turns: the SQLite table of entries / their messages' JSON`,
        value: tableBytes(path, "entries") / said,
        most: 1.5,
        note: `${tableBytes(path, "entries")} bytes`,
      },
      {
        name: `${turns} turns: the SQLite file with snapshots / their messages' JSON`,
        value: fileBytes(path) / said,
        most: 2.5,
        note: `${fileBytes(path)} bytes, of them ${tableBytes(path, "snapshots")} in snapshots; it was never searched`,
      },
    ];
  });

/** Returns the bytes of messages in the format of chat completions, which most people store. */
export const chatBytes = (messages: readonly Message[]): number =>
  messages.reduce((bytes, message) => bytes + Buffer.byteLength(JSON.stringify(toChatMessage(message))), 0);

const tableBytes = (path: string, table: string): number => {
  const database = new DatabaseSync(path);
  const row = database.prepare("SELECT sum(pgsize) AS bytes FROM dbstat WHERE name = ?").get(table);
  database.close();
  return Number(row?.["bytes"]);
};
