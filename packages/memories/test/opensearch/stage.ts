import { createHost, type Host, memoryStore, type Store } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";
import { Client } from "@opensearch-project/opensearch";
import {
  type MemoryClient,
  openSearchMemory,
  openSearchMirror,
  type OpenSearchMirror,
} from "../../src/opensearch/index.ts";

/** Makes a client whose n-th request is lost, before it is carried out or with its answer. */
export const breaking = (url: string, version: string) => {
  const client = new Client({ node: url });
  let left = Infinity;
  let carriesOut = false;
  const request = async (...[asked]: Parameters<Client["transport"]["request"]>): Promise<unknown> => {
    left--;
    if (left >= 0 || (left === -1 && carriesOut)) {
      const answer = await client.transport.request(asked);
      if (left >= 0) return answer;
    }
    throw new Error("the connection broke");
  };
  return {
    // The client's method has overloads; this stands for that with promises.
    memory: openSearchMemory(
      { transport: { request: request as unknown as Client["transport"]["request"] } },
      { version },
    ),
    breakAfter: (requests: number, given: { readonly carriesOut: boolean }) => {
      left = requests;
      carriesOut = given.carriesOut;
    },
    mend: () => (left = Infinity),
    close: () => client.close(),
  };
};

export interface Stage {
  readonly host: Host;
  readonly store: Store;
  readonly mirror: OpenSearchMirror;
}

/** Makes a host in memory whose threads are mirrored. Its model rejects. */
export const stageWith = (memory: MemoryClient): Stage => {
  const clock = virtualClock();
  const store = memoryStore({ clock });
  const llm = () => Promise.reject(new Error("no model is called here"));
  const host = createHost({ machine: conversationMachine(), store, llm, clock, ids: sequentialIds() });
  return { host, store, mirror: openSearchMirror({ memory, store }) };
};
