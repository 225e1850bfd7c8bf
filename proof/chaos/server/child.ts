// Serves the threads of a store, and prints its URL, until it is killed.
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

import type { AskHandle, AskPart, Host, HostedThread, LlmHandler } from "@colloquy/host";
import { textOf } from "@colloquy/machine";
import { createHost, tool } from "@colloquy/runtime-node";
import { threadServer } from "@colloquy/server";
import { getRequestListener } from "@hono/node-server";

import { openStore } from "../../kit/places.ts";
import { answerTo, callerTool, type ChildOptions, hostTool, recoveryMs } from "./questions.ts";

// The parent process writes these options.
const { place, fault } = JSON.parse(process.argv[2] ?? "") as ChildOptions;

const llm: LlmHandler = async ({ messages }, { onDelta }) => {
  const asked = messages.findLastIndex(({ role, synthesised }) => role === "user" && synthesised !== true);
  const [question, ...since] = messages.slice(asked);
  const said = question === undefined ? "" : textOf(question);
  const name = since.length > 0 ? null : said.endsWith("call") ? callerTool : said.endsWith("run") ? hostTool : null;
  const content = name === null ? answerTo(said) : "Let me see. ";
  for (const word of content.split(/(?<= )/u)) {
    onDelta({ type: "text", text: word });
    await pause(5);
  }
  const toolCalls = name === null ? {} : { toolCalls: [{ id: "call", name, arguments: "{}" }] };
  return { type: "completed", reply: { content, ...toolCalls }, finishReason: "stop" };
};

const run = tool({
  name: hostTool,
  description: "Runs on the server.",
  input: { jsonSchema: { type: "object" } },
  recovery: "rerun",
  run: () => pause(10, "done"),
});

/** Makes a handle that shows only the start and end of a turn, as one to another host's turn once did. */
const withoutParts = (handle: AskHandle): AskHandle =>
  seenThrough(handle, {
    [Symbol.asyncIterator]: async function* () {
      const isShown = ({ type }: AskPart): boolean => type === "turn.started" || type === "turn.ended";
      for await (const part of handle) if (isShown(part)) yield part;
    },
  });

const blind = (host: Host): Host =>
  seenThrough(host, {
    thread: (id: string): HostedThread => {
      const thread = host.thread(id);
      return seenThrough(thread, {
        ask: (...given: Parameters<HostedThread["ask"]>) => withoutParts(thread.ask(...given)),
        rejoin: (...given: Parameters<HostedThread["rejoin"]>) => withoutParts(thread.rejoin(...given)),
      });
    },
  });

const seenThrough = <Whole extends object>(
  whole: Whole,
  others: { readonly [name: string | symbol]: unknown },
): Whole =>
  new Proxy(whole, {
    get: (_, name): unknown => {
      const member: unknown = name in others ? others[name] : Reflect.get(whole, name);
      return typeof member === "function"
        ? (...given: unknown[]): unknown => Reflect.apply(member, whole, given)
        : member;
    },
  });

const host = createHost({
  llm,
  store: openStore(place),
  tools: [run],
  recovery: { everyMs: recoveryMs },
  idleMs: 2_000,
  pollMs: 20,
  // On a busy machine a store is sometimes slower than a lease allows.
  onObserverError: () => {},
});
const server = threadServer(fault === "blind" ? blind(host) : host);
const listener = getRequestListener((request) => server.fetch(request), { overrideGlobalObjects: false });
const sockets = createServer((request, response) => void listener(request, response)).listen(0, "127.0.0.1", () => {
  host.start();
  const address = sockets.address();
  if (typeof address === "object") process.stdout.write(`http://127.0.0.1:${address?.port}\n`);
});
