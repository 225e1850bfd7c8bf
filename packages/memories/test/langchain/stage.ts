import { createHost, type Host, type HostOptions, memoryStore } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";

/** Makes a host in memory. Its default model rejects. */
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
