// One of the processes that write one thread: asks, many at a time, and answers whatever is asked while it has the
// lease of the thread. Started by `run.ts`; it goes when its standard input ends.
import { setImmediate as nextMacrotask, setTimeout as delay } from "node:timers/promises";

import { createHost, type Host, type LlmHandler } from "@colloquy/host";
import { conversationMachine, textOf } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { randomIds, systemClock } from "@colloquy/runtime-node";

import { isPassing } from "../kit/calls.ts";
import { openStore } from "../kit/places.ts";
import { answerTo, askIdOf, type ChildOptions, type Report, threadId } from "./talk.ts";

const main = async (options: ChildOptions): Promise<void> => {
  const store = openStore(options.store);
  const host = createHost({
    machine: conversationMachine({ overlap: { type: "queue", max: 100_000 }, policy: lastTurns(1) }),
    store,
    llm: answering,
    clock: systemClock,
    ids: randomIds,
    whenHeld: "enqueue",
    leaseTtlMs: options.leaseTtlMs,
    pollMs: 20,
    idleMs: 100,
  });
  let next = 1;
  const work = async (): Promise<void> => {
    for (let ask = next++; ask <= options.asks; ask = next++)
      await askUntilAnswered(host, askIdOf(options.writer, ask));
  };
  await Promise.all(Array.from({ length: options.outstanding }, work));
  report({ type: "done" });
  await inputEnded;
  await host.close();
  await store.close();
};

/** Resolves when the parent needs no more reports. */
const inputEnded = new Promise<void>((resolve) => {
  process.stdin.once("end", resolve);
  process.stdin.resume();
});

const answering: LlmHandler = async ({ messages }) => {
  report({ type: "performs" });
  await nextMacrotask();
  const question = messages.at(-1);
  return {
    type: "completed",
    reply: { content: answerTo(question === undefined ? "nothing" : textOf(question)) },
    finishReason: "stop",
  };
};

const askUntilAnswered = async (host: Host, askId: string): Promise<void> => {
  for (;;) {
    try {
      const { turn, text } = await host.ask(askId, { threadId, askId });
      report({ type: "answered", askId, turn, text });
      return;
    } catch (error) {
      if (!isPassing(error)) throw error;
      report({ type: "again", askId, because: String(error) });
      await delay(20);
    }
  }
};

const report = (line: Report): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

// It is started with nothing else than what `run.ts` has made.
await main(JSON.parse(process.argv[2] ?? "null") as ChildOptions);
