import { setTimeout as pause } from "node:timers/promises";

import { createHost, declarationsOf, type Host, type LlmHandler, type Store, tool, type Tool } from "@colloquy/host";
import { conversationMachine, textOf } from "@colloquy/machine";
import { randomIds, systemClock } from "@colloquy/runtime-node";
import { lawSharedThread } from "@colloquy/runtime-test/laws";

import { ending, isPassing, violationsOfLaw } from "../kit/calls.ts";

/** Hosts that talk on one thread, each over its own store, and ask again under the same id until they have the answer. */
export interface Talk {
  readonly threadId: string;
  /** Resolves when all are answered, with what went wrong. */
  readonly done: Promise<readonly string[]>;
  /** How often an ask was rejected, and asked again. */
  readonly again: () => number;
  /** Closes the hosts, and checks R3 on the journal, which a store reads without the network between. */
  readonly judge: (store: Store) => Promise<readonly string[]>;
}

export const startTalk = (stores: readonly Store[], asksEach: number, limitMs: number): Talk => {
  const ran: string[] = [];
  const answers: { readonly askId: string; readonly turn: number; readonly text: string }[] = [];
  let again = 0;
  const tools = [chargeOf(ran)];
  const hosts = stores.map((store) => hostOf(store, tools));
  const ask = async (host: Host, askId: string): Promise<readonly string[]> => {
    for (;;) {
      try {
        const { turn, text } = await ending(askId, limitMs, host.ask(askId, { threadId, askId }));
        answers.push({ askId, turn, text });
        return [];
      } catch (error) {
        if (!isPassing(error)) return [`${askId}: ${String(error)}`];
        again += 1;
      }
      await pause(20);
    }
  };
  const idsOf = (host: number): readonly string[] =>
    Array.from({ length: asksEach }, (_, index) => `ask ${index} of host ${host}`);
  const asking = hosts.flatMap((host, index) => idsOf(index).map((askId) => ask(host, askId)));
  return {
    threadId,
    done: Promise.all(asking).then((problems) => problems.flat()),
    again: () => again,
    judge: async (store) => {
      await Promise.all(hosts.map((host) => ending("host.close", limitMs, host.close())));
      const asked = hosts.flatMap((_, index) => idsOf(index));
      const stored = await store.read(threadId);
      return violationsOfLaw(() =>
        lawSharedThread({ asked, answered: answers, stored, ran, tools: declarationsOf(tools) }),
      );
    },
  };
};

const threadId = "talk";

const hostOf = (store: Store, tools: readonly Tool[]): Host =>
  createHost({
    machine: conversationMachine({ tools: declarationsOf(tools), overlap: { type: "queue", max: 1_000 } }),
    store,
    tools,
    llm,
    clock: systemClock,
    ids: randomIds,
    leaseTtlMs: 500,
    storeTimeoutMs: 1_000,
    idleMs: 50,
    pollMs: 30,
    snapshotEvery: 5,
  });

/** Something that must not be done twice. */
const chargeOf = (ran: string[]): Tool =>
  tool({
    name: "charge",
    description: "Charges a card.",
    input: { jsonSchema: { type: "object" } },
    recovery: "once",
    run: (_, { idempotencyKey }) => {
      ran.push(idempotencyKey);
      return "charged";
    },
  });

const llm: LlmHandler = async ({ messages, step }) => {
  const question = messages.findLast(({ role }) => role === "user");
  const asked = question === undefined ? "nothing" : textOf(question);
  return step === 1
    ? { type: "completed", reply: { toolCalls: [{ id: null, name: "charge", arguments: "{}" }] }, finishReason: "stop" }
    : { type: "completed", reply: { content: `answer to ${asked}` }, finishReason: "stop" };
};
