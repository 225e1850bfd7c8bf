import {
  type Clock,
  createHost,
  declarationsOf,
  type Host,
  type LlmHandler,
  memoryStore,
  type Store,
  type Tool,
  tool,
} from "@colloquy/host";
import { conversationMachine, type MachineOptions } from "@colloquy/machine";
import { runningClock, sequentialIds } from "@colloquy/runtime-test";
import { type ScriptLine, scriptedModel } from "@colloquy/runtime-test/models";
import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  DefaultChatTransport,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
} from "ai";
import { type ThreadServer, threadServer, type ThreadServerOptions, type UiMessageChunk } from "../../src/index.ts";
import { at } from "../serving.ts";

/** A host with a scripted model and a virtual clock. */
export interface Stage {
  readonly host: Host;
  readonly store: Store;
  /** Makes another host on the same store, as after a restart. */
  readonly another: (next?: readonly ScriptLine[] | LlmHandler) => Stage;
}

/** Makes a server, and records the errors for its operator. */
export const watchedServer = (
  { host }: Pick<Stage, "host">,
  options: ThreadServerOptions = {},
): { readonly server: ThreadServer; readonly reported: readonly string[] } => {
  const reported: string[] = [];
  const server = threadServer(host, {
    ...options,
    onError: (error) => void reported.push(error instanceof Error ? error.message : String(error)),
  });
  return { server, reported };
};

/** Returns the error text that a page reads. */
export const pageErrorOf = async (
  response: Response,
): Promise<{ readonly status: number; readonly kind: string | null; readonly text: string }> => ({
  status: response.status,
  kind: response.headers.get("x-error-kind"),
  text: await response.text(),
});

/** The number of hosts so far. */
let hosts = 0;

export const stage = (
  script: readonly ScriptLine[] | LlmHandler,
  { machine = {}, clock = runningClock(), store = memoryStore({ clock }), tools = [echo, pay] }: StageOptions = {},
): Stage => {
  const ids = sequentialIds();
  // Each host has its own name, for its own leases, and the same ids.
  const owner = `host ${(hosts += 1)}`;
  const host = createHost({
    llm: typeof script === "function" ? script : scriptedModel(script),
    store,
    tools,
    clock,
    ids: { draw: (kind) => (kind === "owner" ? owner : ids.draw(kind)) },
    machine: conversationMachine({ tools: declarationsOf(tools), ...machine }),
  });
  return { host, store, another: (next = script) => stage(next, { machine, clock, store, tools }) };
};

interface StageOptions {
  readonly machine?: MachineOptions;
  readonly clock?: Clock;
  readonly store?: Store;
  readonly tools?: readonly Tool[];
}

const echo: Tool = tool({
  name: "echo",
  description: "Gives back what it gets.",
  input: { jsonSchema: { type: "object" } },
  run: (given) => given,
});

/** A tool that needs approval. */
export const pay: Tool = tool({
  name: "pay",
  description: "Pays.",
  input: { jsonSchema: { type: "object" } },
  approval: "always",
  run: () => "paid",
});

/** A tool of the page. */
export const seat = { name: "seat", description: "Where the user sits.", input: { jsonSchema: { type: "object" } } };

/** Returns the joined text of each message. */
export const textsOf = (messages: readonly UIMessage[]): readonly string[] =>
  messages.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join(""));

/** Returns the messages of the thread "t" that a page gets when it opens. */
export const painted = async (server: Pick<ThreadServer, "fetch">, query = ""): Promise<UIMessage[]> =>
  (await server.fetch(at(`/ui/t/messages${query}`))).json();

export const allOf = async <Element>(elements: AsyncIterable<Element>): Promise<readonly Element[]> => {
  const all: Element[] = [];
  for await (const element of elements) all.push(element);
  return all;
};

/** Returns the message that the SDK's own reader makes of a stream. */
export const messageOf = async (chunks: readonly UiMessageChunk[], message?: UIMessage): Promise<UIMessage> => {
  // Typed as the SDK's chunks, since ours are valid ones.
  const stream = new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const seen = await allOf(readUIMessageStream({ stream, ...(message === undefined ? {} : { message }) }));
  const last = seen.at(-1) ?? message;
  if (last === undefined) throw new Error("the stream had no message");
  return last;
};

/** The class below `useChat`, without React. */
export class Chat extends AbstractChat<UIMessage> {
  constructor(init: Omit<ChatInit<UIMessage>, "transport"> & { readonly server: Pick<ThreadServer, "fetch"> }) {
    const { server, messages = [], ...rest } = init;
    const transport = new DefaultChatTransport<UIMessage>({
      api: "http://localhost/ui",
      fetch: async (input, given) => server.fetch(new Request(input, given)),
    });
    const state: ChatState<UIMessage> = {
      status: "ready",
      error: undefined,
      messages,
      pushMessage: (message) => void state.messages.push(message),
      popMessage: () => void state.messages.pop(),
      replaceMessage: (index, message) => void (state.messages[index] = message),
      snapshot: structuredClone,
    };
    super({ id: "t", ...rest, transport, state });
  }
}

/** Removes from messages the approvers of calls that ran: a page knows them, a thread does not keep them. */
export const keptOf = (messages: readonly unknown[]): readonly unknown[] =>
  // Cast: plain JSON, as it is sent.
  (JSON.parse(JSON.stringify(messages)) as readonly { parts: readonly Record<string, unknown>[] }[]).map(
    ({ parts, ...message }) => ({
      ...message,
      parts: parts.map(({ approval: _, ...part }) => part),
    }),
  );
