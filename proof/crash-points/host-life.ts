import { createHost } from "@colloquy/host";
import { sequentialIds } from "@colloquy/runtime-test";

import { machine, outputs, threadId } from "./conversation.ts";
import type { Life, LifeParts } from "./converse.ts";

/** A process with a host. */
export const hostLife = ({ store, llm, tools, clock }: LifeParts): Life => {
  const ids = sequentialIds();
  const host = createHost({
    machine,
    store,
    llm,
    tools,
    clock,
    // All processes that die here take leases under one name, so the store knows a dead one's lease.
    ids: { draw: (kind) => (kind === "owner" ? "crashed" : ids.draw(kind)) },
    recovery: false,
    snapshotEvery: 8,
  });
  const thread = host.thread(threadId);
  return {
    ask: async (askId) => {
      const output = outputs[askId];
      return (await host.ask(askId, { threadId, askId, ...(output === undefined ? {} : { output }) })).text;
    },
    state: () => thread.state(),
    approve: async ({ id, digest }, approved) => void (await thread[approved ? "approve" : "deny"](id, { digest })),
    close: () => host.close(),
  };
};
