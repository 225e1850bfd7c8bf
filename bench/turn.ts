// A whole turn (model, tool, model; in process, no latency) through the host, against a loop written by hand.
import type { Host } from "@colloquy/host";
import { benchmarkHost, fileStore, handWrittenInserts, inMemory, onFile } from "./kit/hosts.ts";
import { type Figure, pair, short } from "./kit/measure.ts";
import { type PlainMessage, plainTurn, userText } from "./kit/work.ts";

export const benchmark = async (rounds: number): Promise<readonly Figure[]> => [
  await memory(rounds),
  await sqlite(rounds),
];

const turns = 400;

/** As most threads are; the growth of long ones is measured apart. */
const turnsPerThread = 10;

const memory = async (rounds: number): Promise<Figure> => {
  const host = inMemory();
  const measured = await pair(
    rounds,
    turns,
    throughHost(host),
    byHand(() => {}),
  );
  await host.close();
  return {
    name: "a turn in memory, µs of CPU",
    value: measured.ours,
    most: 100,
    note: `a bare loop over an array takes ${short(measured.reference)}`,
  };
};

const sqlite = (rounds: number): Promise<Figure> =>
  onFile(async (path) => {
    const store = fileStore(path);
    const host = benchmarkHost(store);
    const plain = handWrittenInserts(`${path}.plain`);
    const measured = await pair(rounds, turns, throughHost(host), byHand(plain.insert));
    await host.close();
    await store.close();
    plain.close();
    return {
      name: "a turn on SQLite / a loop with hand-written inserts",
      value: measured.ratio,
      most: 3,
      note: `${short(measured.ours)} µs against ${short(measured.reference)}`,
    };
  });

const throughHost = (host: Host): (() => Promise<void>) => {
  let threads = 0;
  return async () => {
    for (let done = 0; done < turns; done += turnsPerThread) {
      const thread = host.thread(`thread-${threads++}`);
      for (let turn = 1; turn <= turnsPerThread; turn++) await thread.ask(userText(turn));
      await thread.close();
    }
  };
};

const byHand =
  (kept: (message: PlainMessage) => void): (() => Promise<void>) =>
  async () => {
    for (let done = 0; done < turns; done += turnsPerThread) {
      const messages: PlainMessage[] = [];
      for (let turn = 1; turn <= turnsPerThread; turn++) await plainTurn(messages, userText(turn), kept);
    }
  };
