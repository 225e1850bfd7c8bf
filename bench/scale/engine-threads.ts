// Makes threads for an engine in memory, to import them later. Their text varies, unlike filler, since the measured
// database compresses its content.
import { createHost, type Host, type LlmHandler, memoryStore } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { randomIds, systemClock } from "@colloquy/runtime-node";

import { randomOf } from "../../proof/kit/random.ts";
import { instantAnswer } from "../kit/work.ts";

export const variedText = (seed: number): string => {
  const random = randomOf(seed);
  return Array.from({ length: 30 }, () => random.pick(vocabulary)).join(" ");
};

const vocabulary: readonly string[] = Array.from({ length: 1_000 }, (_, index) => {
  const random = randomOf(index);
  const letter = (letters: string): string => letters[random.integer(0, letters.length - 1)] ?? "";
  const syllables = random.integer(1, 4);
  return Array.from({ length: syllables }, () => letter("bdfghklmnprstw") + letter("aeiou")).join("") + letter("nrst");
});

export const variedAnswers = (): LlmHandler => {
  let seed = Date.now();
  return async (call, context) => {
    const outcome = await instantAnswer(call, context);
    return outcome.type === "completed" ? { ...outcome, reply: { content: variedText(seed++) } } : outcome;
  };
};

/** Imports threads with at least this many entries each, of consecutive turns. */
export const importThreads = async (host: Host, ids: readonly string[], entries: number): Promise<void> => {
  const inMemory = createHost({
    machine: conversationMachine({ policy: lastTurns(10) }),
    store: memoryStore({ clock: systemClock }),
    llm: variedAnswers(),
    clock: systemClock,
    ids: randomIds,
    idleMs: 0,
  });
  await inLanes(ids, async (id, index) => {
    const thread = inMemory.thread(id);
    let there = 0;
    for (let turn = 0; there < entries; turn++) {
      await thread.ask(variedText(index * entries + turn));
      there = 1 + (turn + 1) * entriesOfTurn;
    }
    await host.importJournal(await thread.exportJournal(), { threadId: id });
    await thread.delete();
  });
  await inMemory.close();
};

/** The entries of a turn: the ask and the answer. The first turn has one more, the start. */
const entriesOfTurn = 2;

export const inLanes = async <Value>(
  values: readonly Value[],
  act: (value: Value, index: number) => Promise<void>,
): Promise<void> => {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; ; index = next++) {
      const value = values[index];
      if (value === undefined) return;
      await act(value, index);
    }
  };
  await Promise.all(Array.from({ length: 20 }, lane));
};

export const idsOf = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
