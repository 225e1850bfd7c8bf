import type { CallLlm, Entry, MachineOptions, RequestApproval, SeedDraft, ToolCallDraft } from "@colloquy/machine";
import { conversationMachine, messagesOf, textOf } from "@colloquy/machine";
import { createHost, declarationsOf, memoryStore, tool } from "@colloquy/host";
import type {
  AskPart,
  Clock,
  Host,
  HostedThread,
  HostOptions,
  Ids,
  LlmContext,
  LlmHandler,
  LlmOutcome,
  Store,
  Tool,
  ToolDefinition,
  ToolInput,
} from "@colloquy/host";
import type { Inbox } from "@colloquy/host/store";

/** A host on a manual clock, with a scripted model. */
export interface Stage {
  readonly host: Host;
  readonly clock: ManualClock;
  readonly store: Store;
  readonly model: ScriptedModel;
  /** Makes another host on the same store and clock, like another process. */
  readonly another: (options?: StageOptions) => Stage;
}

export interface StageOptions extends Partial<Omit<HostOptions, "llm" | "machine" | "clock">> {
  readonly script?: readonly ScriptedStep[];
  readonly machine?: MachineOptions;
  readonly clock?: ManualClock;
  /** The owner of its leases. Two stages with the same one are a dead process and its successor. Default: drawn. */
  readonly owner?: string;
  /** The keys that the model handler sends. */
  readonly keys?: readonly string[];
  /** Throws if the model handler cannot make calls. */
  readonly check?: () => void;
}

export const stage = (options: StageOptions = {}): Stage => {
  const {
    script = [],
    machine = {},
    clock = manualClock(),
    ids = countingIds(),
    tools = [],
    keys = [],
    check = () => {},
    owner,
    ...rest
  } = options;
  const store = rest.store ?? memoryStore({ clock });
  const model = scriptedModel(script);
  const host = createHost({
    recovery: false,
    ...rest,
    ids: owner === undefined ? ids : { draw: (kind) => (kind === "owner" ? owner : ids.draw(kind)) },
    tools,
    clock,
    store,
    llm: Object.assign(model.handler, { secrets: () => keys, check }),
    machine: conversationMachine({ tools: declarationsOf(tools), ...machine }),
  });
  return { host, clock, store, model, another: (more = {}) => stage({ ...options, ...more, clock, ids, store }) };
};

/** A model's outcome, or a function that returns it. */
export type ScriptedStep = LlmOutcome | ((call: CallLlm, context: LlmContext) => Promise<LlmOutcome>);

export interface ScriptedModel {
  readonly handler: LlmHandler;
  /** The calls so far, in order. */
  readonly calls: CallLlm[];
}

const scriptedModel = (script: readonly ScriptedStep[]): ScriptedModel => {
  const calls: CallLlm[] = [];
  return {
    calls,
    handler: async (call, context) => {
      const step = script[calls.length];
      calls.push(call);
      if (step === undefined) throw new Error(`the script has no step for call ${calls.length}`);
      return typeof step === "function" ? step(call, context) : step;
    },
  };
};

export const says = (text: string): LlmOutcome => ({
  type: "completed",
  reply: { content: text },
  finishReason: "stop",
  usage: { inputTokens: 10, outputTokens: 2 },
});

export const calls = (...toolCalls: readonly (readonly [name: string, given: unknown])[]): LlmOutcome => ({
  type: "completed",
  reply: {
    toolCalls: toolCalls.map(([name, given], index): ToolCallDraft => ({
      id: `call_${index}`,
      name,
      arguments: typeof given === "string" ? given : JSON.stringify(given),
    })),
  },
  finishReason: "tool_calls",
});

/** Makes a model call that waits until the test answers it. */
export const held = (): {
  readonly step: ScriptedStep;
  readonly answer: (outcome: LlmOutcome) => void;
  readonly show: (text: string) => void;
  readonly signal: () => AbortSignal | undefined;
} => {
  const { promise, resolve } = Promise.withResolvers<LlmOutcome>();
  let context: LlmContext | undefined;
  return {
    step: async (_, given) => {
      context = given;
      return promise;
    },
    answer: resolve,
    show: (text) => context?.onDelta({ type: "text", text }),
    signal: () => context?.signal,
  };
};

/** Lets time pass. Returns the outcome of a call meanwhile. */
export const during = async <A>(clock: ManualClock, ms: number, outcome: PromiseLike<A>): Promise<A> => {
  const [result] = await Promise.all([outcome, clock.advance(ms)]);
  return result;
};

export interface ManualClock extends Clock {
  /** Lets time pass, and fires due timers in order. */
  advance(ms: number): Promise<void>;
  /** The number of timers. */
  readonly sleepers: number;
}

interface Sleeper {
  readonly dueAt: number;
  readonly callback: () => void;
}

export const manualClock = (): ManualClock => {
  let now = 1_000_000;
  const sleepers = new Set<Sleeper>();
  return {
    now: () => now,
    get sleepers() {
      return sleepers.size;
    },
    wakeAt: (dueAt, callback) => {
      const sleeper = { dueAt, callback };
      sleepers.add(sleeper);
      return () => sleepers.delete(sleeper);
    },
    advance: async (ms) => {
      const end = now + ms;
      await settle();
      for (;;) {
        let next: Sleeper | undefined;
        for (const sleeper of sleepers) if (sleeper.dueAt < (next?.dueAt ?? Infinity)) next = sleeper;
        if (next === undefined || next.dueAt > end) break;
        sleepers.delete(next);
        now = Math.max(now, next.dueAt);
        next.callback();
        await settle();
      }
      now = end;
    },
  };
};

/** Lets all promises run as far as they can. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Returns the journal of a thread: each entry's type and, if any, its mark or outcome. */
export const journalOf = async (store: Store, threadId = "default"): Promise<readonly string[]> =>
  (await entriesOf(store, threadId)).map((entry) => {
    const outcome = "outcome" in entry.event ? ` ${entry.event.outcome}` : "";
    return `${entry.event.type}${outcome}${"recovered" in entry ? " recovered" : ""}`;
  });

export const entriesOf = async (store: Store, threadId = "default"): Promise<readonly Entry[]> =>
  // These tests only store entries.
  (await store.read(threadId)) as readonly Entry[];

/** Makes a tool that takes any object. */
export const plain = (
  name: string,
  run: ToolDefinition<ToolInput>["run"],
  definition: Partial<ToolDefinition<ToolInput>> = {},
): Tool => tool({ name, description: "", input: { jsonSchema: { type: "object" } }, run, ...definition });

/** A tool that repeats its `text`. */
export const echo: Tool = tool({
  name: "echo",
  description: "Says it again.",
  input: { jsonSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } },
  run: ({ text }) => text,
});

/** Returns the remaining parts of an ask. */
export const partsOf = async (handle: AsyncIterable<AskPart>): Promise<readonly AskPart[]> => {
  const parts: AskPart[] = [];
  for await (const part of handle) parts.push(part);
  return parts;
};

/** Returns the error of a promise. */
export const errorOf = async (promise: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it did not reject");
};

export const countingIds = (): Ids => {
  let drawn = 0;
  return { draw: (kind) => `${kind}-${++drawn}` };
};

/** Returns the texts of a thread's messages, in order. */
export const texts = async (thread: HostedThread): Promise<readonly string[]> => {
  const state = await thread.state();
  return state === null ? [] : messagesOf(state).map(textOf);
};

/** Makes a clock, and a store in memory with it. */
export const stored = () => {
  const clock = manualClock();
  return { clock, inner: memoryStore({ clock }) };
};

export const inboxOf = ({ inbox }: Store): Inbox => {
  if (inbox === undefined) throw new Error("no inbox");
  return inbox;
};

/** The options of a machine whose asks queue. */
export const queue = { overlap: { type: "queue", max: 8 } } as const;

/** The journal of a new thread after the model has answered its first ask. */
export const answered: readonly string[] = ["thread.started", "ask.received", "llm.completed"];

/** Approves the oldest call that waits for approval. */
export const approveFirst = async (thread: HostedThread): Promise<RequestApproval | undefined> => {
  const [request] = await thread.approvals();
  await thread.approve(request?.id ?? "");
  return request;
};

/** Returns the messages of an added turn. */
export const written = (turn: number): readonly SeedDraft[] => [
  { role: "user", content: `question ${turn}` },
  { role: "assistant", content: `answer ${turn}` },
];
