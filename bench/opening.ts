// Measures opening a long thread and asking once, against reading the same rows raw. Also measures reading a journal
// against parsing its JSON, and the size of a thread's snapshots against the JSON of its messages.
import { type Host, memoryStore } from "@colloquy/host";
import { type Entry, messagesOf } from "@colloquy/machine";
import { StoredChunks, takeSnapshot } from "@colloquy/machine/storage";
import { decodeJournal } from "@colloquy/machine/journal";
import { lastTurns, tokenWindow } from "@colloquy/machine/policies";
import { systemClock } from "@colloquy/runtime-node";
import { DatabaseSync } from "node:sqlite";
import { chatBytes } from "./disk.ts";
import { benchmarkHost, fileStore, onFile } from "./kit/hosts.ts";
import { budget } from "./kit/long-thread.ts";
import { type Figure, figureOf, pair } from "./kit/measure.ts";
import { userText } from "./kit/script.ts";
import { lookupMachine } from "./kit/work.ts";

const turns = 10_000;
const machine = lookupMachine({ policy: tokenWindow(), budget, calibrate: false });

export const benchmark = async (rounds: number): Promise<readonly Figure[]> => [
  await snapshotBytes(),
  await reading(rounds),
  ...(await onFile((path) => opening(path, rounds))),
];

const opening = async (path: string, rounds: number): Promise<readonly Figure[]> => {
  await withHost(path, async (host) => {
    const thread = host.thread("main");
    for (let turn = 1; turn <= turns; turn++) await thread.ask(userText(turn));
  });
  let asked = turns;
  const costs = await pair(
    rounds,
    1,
    () => withHost(path, (host) => host.thread("main").ask(userText(++asked))),
    () => rowsOf(path),
  );
  return [figureOf(`open a thread of ${turns} turns and ask once / read its rows raw`, costs, 2)];
};

const withHost = async (path: string, work: (host: Host) => PromiseLike<unknown>): Promise<void> => {
  const store = fileStore(path);
  const host = benchmarkHost({ store, machine });
  await work(host);
  await host.close();
  await store.close();
};

/** Does the minimum for any reader of a whole thread. */
const rowsOf = (path: string): number => {
  const database = new DatabaseSync(path);
  const rows = database.prepare("SELECT body FROM journal WHERE thread = ? ORDER BY seq").all("main");
  database.close();
  if (rows.length < turns) throw new Error(`there are ${rows.length} rows, and there should be one for each entry`);
  return rows.length;
};

const reading = async (rounds: number): Promise<Figure> => {
  const store = memoryStore({ clock: systemClock });
  const host = benchmarkHost({ store, machine: lookupMachine({ policy: lastTurns(10) }) });
  for (let turn = 1; turn <= 500; turn++) await host.thread("main").ask(userText(turn));
  const lines = (await store.read("main", 0)).map((entry) => JSON.stringify(entry));
  await host.close();
  const parsed = (): readonly unknown[] => lines.map((line): unknown => JSON.parse(line));
  const costs = await pair(
    rounds,
    lines.length,
    () => decodeJournal(parsed()),
    () => parsed(),
  );
  return figureOf(`read the entries of a journal / parse its JSON`, costs, 3);
};

/** Measures the snapshots. Counts the messages as the disk benchmark does. */
const snapshotBytes = async (): Promise<Figure> => {
  const host = benchmarkHost();
  const thread = host.thread("main");
  for (let turn = 1; turn <= 1_000; turn++) await thread.ask(userText(turn));
  const state = await thread.state();
  await host.close();
  if (state === null) throw new Error("the thread is not there");
  const said = chatBytes(messagesOf(state));
  // This entry stands in for the newest one, as only its digest is kept.
  const newest: Entry = { seq: state.context.seq, event: { type: "checkpoint.named", at: 0, name: "newest" } };
  const { head, chunks } = takeSnapshot(state, newest, new StoredChunks());
  const kept = [head, ...chunks.values()].reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
  return {
    name: "1000 turns: their snapshot / their messages' JSON",
    value: kept / said,
    most: 1,
    note: `${kept} bytes against ${said}`,
  };
};
