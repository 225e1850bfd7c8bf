import { createHost, memoryStore, type Store } from "@colloquy/host";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";
import { never, reply, ruleModel, scriptedModel } from "@colloquy/runtime-test/models";
import { conversationMachine, type MachineOptions } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { expect, test } from "vitest";
import { type Ongoing, statusText } from "../../../src/terminal/conversation/status-text.ts";
import { keymapOf } from "../../../src/terminal/input/keymap.ts";
import { onScreen } from "./screen.ts";

const counter = {
  name: "characters",
  version: 1,
  options: {},
  countPart: (part: { readonly type: string; readonly text?: string }) => part.text?.length ?? 0,
  perMessage: 0,
  perPrompt: 0,
} as const;

const statusWith = async (machine: MachineOptions): Promise<string> => {
  const { ask, status } = onScreen(
    scriptedModel([reply("a".repeat(20), { usage: { inputTokens: 1000, outputTokens: 500, totalTokens: 1500 } })]),
    { machine },
  );
  await ask("Say it.", /\nthread here · 1 turn/);
  return status();
};

test("the status has the share of the window where it is known, and no cost without prices", async () => {
  expect(await statusWith({})).toBe("thread here · 1 turn · 1.5k tokens (1.0k in / 0.5k out)");
  expect(await statusWith({ counter, budget: { tokens: 120, reserve: 20 } })).toBe(
    "thread here · 1 turn · 1.5k tokens (1.0k in / 0.5k out) · 27 % of the window",
  );
  const pricing = { name: "flat", version: 1, options: {}, price: () => ({ nano: 25_000_000, currency: "EUR" }) };
  expect(await statusWith({ pricing })).toBe("thread here · 1 turn · 1.5k tokens (1.0k in / 0.5k out) · 0.025 EUR");
});

test("a narrow status line loses what is in brackets before its tokens", () => {
  const idle = { isAnswering: false, approval: null, waits: null, queue: [], last: [{}] } as unknown as Ongoing; // only these are read
  const status = {
    isLabelled: false,
    keymap: keymapOf("standard"),
    armed: null,
    begun: null,
    edited: null,
    performed: "",
  };
  const tokens = (label: string): string => `${label} (1.0k in / 0.5k out)`;
  const plain = { ...status, figures: ["thread here", "1 turn", tokens("1.5k tokens")] };
  expect(statusText(plain, idle, 80)).toBe("thread here · 1 turn · 1.5k tokens (1.0k in / 0.5k out)");
  expect(statusText(plain, idle, 40)).toBe("thread here · 1 turn · 1.5k tokens");
  const labelled = { ...status, isLabelled: true, figures: ["Thread: here", "Msgs: 2", tokens("Tokens: 1.5k")] };
  expect(statusText(labelled, idle, 40)).toBe("Tokens: 1.5k · Status: Ready");
});

test("the status line labels its figures as the seed has it when it names the agent", async () => {
  const usage = { inputTokens: 2100, outputTokens: 300, totalTokens: 2400 };
  const { ask, send, until, status } = onScreen(
    scriptedModel([reply("Rain.", { usage }), never({ pieces: ["It is"] })]),
    { agentLabel: "WeatherAgent" },
  );
  await until("Agent: WeatherAgent · Thread: here · Status: Ready");
  send("Oslo?");
  // Fitted to the screen's width: without the agent.
  await until(/\nThread: here · Msgs: 2/);
  expect(status()).toBe("Thread: here · Msgs: 2 · Tokens: 2.4k (2.1k in / 0.3k out) · Status: Ready");
  await ask("And now?", "It is");
  expect(status()).toContain("Status: answers, Esc stops");
});

test("the first lines say where help is, until something is said", async () => {
  const { ask, status, until } = onScreen(scriptedModel([reply("Yes.")]));
  await until("/help lists the commands");
  await ask("Anybody?", "Yes.\nAgent");
  expect(status()).not.toContain("/help");
});

test("a command that takes long is in the status while it runs", async () => {
  const written = Promise.withResolvers<string>();
  const { ask, status, until, type } = onScreen(scriptedModel([]), { newThreadId: () => written.promise });
  await until("new thread here");
  await ask("/new", "/new …");
  type("W");
  await until("> W");
  expect(status()).toContain("/new …");
  written.resolve("there");
  await until("new thread there");
  await until("thread there · /help");
  expect(status()).not.toContain("/new");
});

/** Returns a set of the chunks of snapshots that are read from a store from now on. */
const chunksRead = (store: Store): Set<string> => {
  const chunks = new Set<string>();
  const read = store.readSnapshot.bind(store);
  store.readSnapshot = async (threadId) => {
    const stored = await read(threadId);
    return stored && { ...stored, chunk: (id) => (chunks.add(id), stored.chunk(id)) };
  };
  return chunks;
};

test("a long thread opens with its last turn, its figures and no earlier turns", async () => {
  const clock = virtualClock();
  const llm = ruleModel([{ name: "all", when: () => true, answer: () => "Yes." }]);
  const store = memoryStore({ clock });
  const parts = { llm, clock, ids: sequentialIds(), store };
  const writer = createHost({ machine: conversationMachine({ policy: lastTurns(2) }), ...parts, snapshotEvery: 100 });
  for (let number = 1; number <= 500; number++) await writer.ask(`Question ${number}?`, { threadId: "here" });
  await writer.close();
  const chunks = chunksRead(store);
  const host = createHost({ machine: conversationMachine(), ...parts });
  const { until, finished } = onScreen(llm, { host });
  await until(/· 500 turns/);
  expect(finished()).toContain("continuing thread here: 500 turns");
  expect(finished()).toContain("Question 500?");
  const atOpening = chunks.size;
  const reader = createHost({ machine: conversationMachine(), ...parts });
  await reader.thread("here").state();
  expect(chunks.size).toBeGreaterThan(10);
  expect(atOpening).toBeLessThan(chunks.size / 2);
});
