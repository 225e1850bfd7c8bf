import { createHost, type Host, type HostOptions, memoryStore } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";

/** A host in memory, whose model nobody asks unless one is given. */
export const hostWith = (options: Partial<HostOptions> = {}): Host => {
  const clock = virtualClock();
  return createHost({
    machine: conversationMachine(),
    store: memoryStore({ clock }),
    llm: () => Promise.reject(new Error("no model is called here")),
    clock,
    ids: sequentialIds(),
    ...options,
  });
};
