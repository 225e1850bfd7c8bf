// The actions of people on a thread during a turn, in an order that each scene fixes. The engine and the host in memory
// must show the same and write the same journals, apart from times.
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";

import {
  type AskHandle,
  type AskPart,
  createHost,
  declarationsOf,
  type Host,
  type HostedThread,
  type LlmHandler,
  type LlmOutcome,
  memoryStore,
  tool,
  type Tool,
} from "@colloquy/host";
import { conversationMachine, type ConversationMachine, type Entry, type JsonObject, textOf } from "@colloquy/machine";
import { compactTurns } from "@colloquy/machine/policies";
import { randomIds, systemClock } from "@colloquy/runtime-node";

import { ending } from "../../kit/calls.ts";
import { wordsOf } from "../../kit/report.ts";

/** A scene with its parts, made for each host that plays it. */
export interface Staged {
  readonly machine: ConversationMachine;
  readonly tools: readonly Tool[];
  readonly llm: LlmHandler;
  readonly play: Play;
}

/** Plays a scene on a new thread. Returns the parts and outcomes that the askers got. */
export type Play = (thread: HostedThread, host: Host) => Promise<readonly unknown[]>;

/** The outcome of a scene. */
export interface Played {
  readonly shown: readonly unknown[];
  readonly journal: readonly Entry[];
}

/** Plays a scene on a host. @throws NeverEnds if it takes too long */
export const playedOn = async (host: Host, play: Play): Promise<Played> => {
  const thread = host.thread("scene");
  const shown = await ending("the scene", limitMs, play(thread, host));
  return { shown, journal: await thread.exportJournal() };
};

const limitMs = 30_000;

export const hostInMemory = (parts: Omit<Staged, "play">): Host =>
  createHost({ ...parts, store: memoryStore({ clock: systemClock }), clock: systemClock, ids: randomIds });

const cancelInFlight = (): Staged => ({
  machine: conversationMachine(),
  tools: [],
  llm: async (call, { onDelta, signal }) => {
    if (!askedIn(call).startsWith("long")) return answered(call);
    for (const text of ["once ", "upon ", "a time"]) onDelta({ type: "text", text });
    await once(signal, "abort");
    throw signal.reason;
  },
  play: async (thread) => {
    const long = thread.ask("long story", { askId: "long" });
    const shown = await all(long, ({ type }) => {
      if (type === "text.delta") long.abort("enough");
    });
    return [shown, await all(thread.ask("and now?", { askId: "next" }))];
  },
});

const steering = (): Staged => {
  const steered = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const tools = [
    toolNamed("look", async () => {
      began.resolve();
      await steered.promise;
      return "looked";
    }),
  ];
  return {
    machine: conversationMachine({ tools: declarationsOf(tools) }),
    tools,
    llm: async (call) => (call.step === 1 ? called("look") : answered(call)),
    play: async (thread) => {
      const first = thread.ask("look around", { askId: "first" });
      const parts = all(first);
      await began.promise;
      const second = thread.steer("under the table, too", { askId: "second" });
      await until(async () => (await thread.asked("second")) !== null);
      steered.resolve();
      return [await parts, await endOf(second)];
    },
  };
};

/** A budget so small that turns are summarised after their end. */
const summary = (): Staged => ({
  machine: conversationMachine({
    budget: { tokens: 160, reserve: 20 },
    policy: compactTurns({ keepTurns: 1, at: 0.6, maxTokens: 40, requestTokens: 4_000 }),
  }),
  tools: [],
  llm: async (call) => {
    if (call.purpose === "answer") return answered(call, "and so on, ".repeat(12));
    return { type: "completed", reply: { content: `summary of ${call.messages.length}` }, finishReason: "stop" };
  },
  play: async (thread) => {
    const shown: unknown[] = [];
    for (const askId of ["one", "two", "three", "four"]) {
      shown.push(await endOf(thread.ask(`chapter ${askId}`, { askId })));
      await until(async () => (await thread.look(({ context }) => context.summarising === null)) === true);
    }
    return shown;
  },
});

const redaction = (): Staged => ({
  machine: conversationMachine(),
  tools: [],
  llm: async (call) => answered(call),
  play: async (thread) => [
    await all(thread.ask("my card is 4711", { askId: "secret" })),
    await thread.redact({ turn: 1 }, { reason: "asked for" }),
    await all(thread.ask("which card?", { askId: "after" })),
  ],
});

const checkedOutput = (): Staged => ({
  machine: conversationMachine(),
  tools: [],
  llm: async ({ step }) => {
    const content = step === 1 ? '{"city":5}' : '{"city":"Oslo"}';
    return { type: "completed", reply: { content }, finishReason: "stop" };
  },
  play: async (thread) => {
    const jsonSchema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const handle = thread.ask("where?", {
      askId: "where",
      output: { schema: { jsonSchema }, name: "place", mode: "prompted" },
    });
    const { output, text } = await handle;
    return [output, text];
  },
});

const toolOfTheCaller = (): Staged => ({
  machine: conversationMachine(),
  tools: [],
  llm: async (call) => (call.step === 1 ? called("locate") : answered(call)),
  play: async (thread) => {
    const handle = thread.ask("where am I?", {
      askId: "mine",
      tools: [{ name: "locate", description: "Where the caller is.", input: { jsonSchema: { type: "object" } } }],
    });
    return all(handle, async (part) => {
      if (part.type === "result.requested") await thread.answerTool(part.callId, "at home");
    });
  },
});

const denial = (): Staged => {
  const tools = [toolNamed("refund", () => "refunded", { approval: "always" })];
  return {
    machine: conversationMachine({ tools: declarationsOf(tools) }),
    tools,
    llm: async (call) => (call.step === 1 ? called("refund") : answered(call)),
    play: (thread) =>
      all(thread.ask("refund it", { askId: "refund" }), async (part) => {
        if (part.type === "approval.requested") await thread.deny(part.request.id, { reason: "too much", by: "Ada" });
      }),
  };
};

/** Another thread of the same name and length replaces the first, which a process must then forget. */
const madeAnew = (): Staged => {
  const parts: Omit<Staged, "play"> = {
    machine: conversationMachine(),
    tools: [],
    llm: async (call) => answered(call),
  };
  return {
    ...parts,
    play: async (thread, host) => {
      const first = await all(thread.ask("my name is Ada", { askId: "first" }));
      await thread.delete();
      const other = hostInMemory(parts);
      await other.ask("my name is Bob", { threadId: thread.id, askId: "other" });
      await host.importJournal(await other.thread(thread.id).exportJournal());
      await other.close();
      return [first, await all(thread.ask("who am I?", { askId: "second" }))];
    },
  };
};

export const scenes: Readonly<Record<string, () => Staged>> = {
  "cancel in flight": cancelInFlight,
  steering,
  summary,
  redaction,
  "checked output": checkedOutput,
  "tool of the caller": toolOfTheCaller,
  denial,
  "made anew": madeAnew,
};

type OnPart = (part: AskPart) => Promise<void> | void;

/**
 * Returns the parts of an ask and its outcome. Consecutive deltas are joined, since their boundaries depend on timing.
 */
const all = async (handle: AskHandle, onPart: OnPart = () => {}): Promise<readonly unknown[]> => {
  const parts: AskPart[] = [];
  for await (const part of handle) {
    const last = parts.at(-1);
    if (part.type === "text.delta" && last?.type === "text.delta" && last.attempt === part.attempt)
      parts.splice(-1, 1, { ...last, text: last.text + part.text });
    else parts.push(part);
    await onPart(part);
  }
  return [parts, await endOf(handle)];
};

const endOf = async (handle: AskHandle): Promise<string> => {
  try {
    const { turn, text } = await handle;
    return `turn ${turn}: ${text}`;
  } catch (error) {
    return wordsOf(error);
  }
};

const until = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds())) await pause(10);
};

const toolNamed = (
  name: string,
  run: () => string | Promise<string>,
  rules: { readonly approval?: "always" } = {},
): Tool =>
  tool({ name, description: `Does "${name}".`, input: { jsonSchema: anything }, recovery: "rerun", ...rules, run });

const anything: JsonObject = { type: "object" };

type Call = Parameters<LlmHandler>[0];

const askedIn = ({ messages }: Call): string => {
  const question = messages.findLast(({ role }) => role === "user");
  return question === undefined ? "" : textOf(question);
};

const answered = (call: Call, more = ""): LlmOutcome => ({
  type: "completed",
  reply: { content: `answer to ${askedIn(call)} after ${call.messages.length} messages${more}` },
  finishReason: "stop",
});

const called = (name: string): LlmOutcome => ({
  type: "completed",
  reply: { toolCalls: [{ id: null, name, arguments: "{}" }] },
  finishReason: "tool_calls",
});
