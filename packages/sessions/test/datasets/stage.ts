import { createHost, type Host, type LlmHandler, memoryStore, type Tool, tool } from "@colloquy/host";
import { conversationMachine, type Entry, type MachineOptions } from "@colloquy/machine";
import type { NamedJournal } from "@colloquy/machine/inspect";
import { decodeJournal } from "@colloquy/machine/journal";
import { runningClock, sequentialIds } from "@colloquy/runtime-test";

/** A host in memory, and the journals of its threads. */
export interface Stage {
  readonly host: Host;
  readonly journal: (threadId: string) => Promise<NamedJournal>;
}

export const weather: Tool = tool({
  name: "weather",
  description: "The weather of a city.",
  input: { jsonSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
  run: ({ city }) => `clear in ${String(city)}`,
});

export const stage = (llm: LlmHandler, options: MachineOptions = {}, tools: readonly Tool[] = []): Stage => {
  const clock = runningClock();
  const store = memoryStore({ clock });
  const machine = conversationMachine({ ...options, tools: tools.map(({ declaration }) => declaration) });
  const host = createHost({ machine, store, llm, clock, ids: sequentialIds(), tools });
  return { host, journal: async (name) => ({ name, entries: decoded(await store.read(name)) }) };
};

const decoded = (values: readonly unknown[]): readonly Entry[] => {
  const journal = decodeJournal(values);
  if ("left" in journal) throw new Error(journal.left.reason);
  return journal.right;
};
