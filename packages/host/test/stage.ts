import type { CallLlm, Entry, MachineOptions, ToolCallDraft } from "@colloquy/machine";
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
} from "@colloquy/host";

/** A host on a clock that stands still, with a model that follows a script. */
export interface Stage {
  readonly host: Host;
  readonly clock: ManualClock;
  readonly store: Store;
  readonly model: ScriptedModel;
  /** Makes another host on the same store and clock, as another process would. */
  readonly another: (options?: StageOptions) => Stage;
}

export interface StageOptions extends Partial<Omit<HostOptions, "llm" | "machine" | "clock">> {
  readonly script?: readonly ScriptedStep[];
  readonly machine?: MachineOptions;
  readonly clock?: ManualClock;
  /** The name under which it takes leases. Two of one name are a process that died, and one that takes over at once. Default: drawn. */
  readonly owner?: string;
  /** The keys that the model handler sends. */
  readonly keys?: readonly string[];
  /** Throws where the model handler can make no call. */
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

/** What a model does when it is called: answers, or does as the function says. */
export type ScriptedStep = LlmOutcome | ((call: CallLlm, context: LlmContext) => Promise<LlmOutcome>);

export interface ScriptedModel {
  readonly handler: LlmHandler;
  /** The calls that were made, in order. */
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

/** A model call that waits until the test answers it. */
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

/** Lets time pass, and returns the outcome of a call meanwhile. */
export const during = async <A>(clock: ManualClock, ms: number, outcome: PromiseLike<A>): Promise<A> => {
  const [result] = await Promise.all([outcome, clock.advance(ms)]);
  return result;
};

export interface ManualClock extends Clock {
  /** Lets time pass, and wakes in order what is due meanwhile. */
  advance(ms: number): Promise<void>;
  /** How many want to be woken. */
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

/** The journal of a thread, entry by entry: type and, where there is one, its mark or outcome. */
export const journalOf = async (store: Store, threadId = "default"): Promise<readonly string[]> =>
  (await entriesOf(store, threadId)).map((entry) => {
    const outcome = "outcome" in entry.event ? ` ${entry.event.outcome}` : "";
    return `${entry.event.type}${outcome}${"recovered" in entry ? " recovered" : ""}`;
  });

export const entriesOf = async (store: Store, threadId = "default"): Promise<readonly Entry[]> =>
  // What these tests stored are entries.
  (await store.read(threadId)) as readonly Entry[];

/** A tool that says again what it is given as `text`. */
export const echo: Tool = tool({
  name: "echo",
  description: "Says it again.",
  input: { jsonSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } },
  run: ({ text }) => text,
});

/** All parts of an ask, from where they were last read to the end. */
export const partsOf = async (handle: AsyncIterable<AskPart>): Promise<readonly AskPart[]> => {
  const parts: AskPart[] = [];
  for await (const part of handle) parts.push(part);
  return parts;
};

/** What a promise rejects with. */
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

/** The texts of a thread's messages, in order. */
export const texts = async (thread: HostedThread): Promise<readonly string[]> => {
  const state = await thread.state();
  return state === null ? [] : messagesOf(state).map(textOf);
};
