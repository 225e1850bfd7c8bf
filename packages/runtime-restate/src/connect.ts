import * as clients from "@restatedev/restate-sdk-clients";
import { errorTextOf } from "@colloquy/host/runtime";
import { createHost, type Host, type HostOptions } from "@colloquy/host";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import { conversationMachine } from "@colloquy/machine";
import { randomIds, systemClock } from "@colloquy/runtime-node";
import { engineStore } from "./engine-store.ts";
import type { Hub } from "./hub.ts";
import type { ThreadHandlers } from "./handlers.ts";

/** The options of a host over an engine. */
export interface ConnectOptions extends Partial<
  Pick<HostOptions, "machine" | "clock" | "ids" | "defaultThread" | "pollMs">
> {
  /** The address of Restate's ingress, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Sent with each request, such as a key for the ingress. */
  readonly headers?: { readonly [name: string]: string };
  /** The workers' hub, which shows at once what happens. Default: none, and the journal is read every `pollMs`. */
  readonly hub?: Hub;
  /** The name of the threads' object, the same as in `serve`. Default `thread`. */
  readonly name?: string;
}

/**
 * Creates a host whose threads live on an engine: it asks, sends and reads. The workers call models and tools by their own
 * options. This host's machine (default: one without tools) only explains prompts and imports messages. The journal is read
 * every 200 ms, or with a hub every 5 seconds (five times `pollMs`), in case a message was lost.
 *
 * @throws ConfigurationError for options that are invalid
 */
export const connect = (options: ConnectOptions): Host => {
  checkOptions("connect", options, connectOptionKinds);
  const { url, headers = {}, hub = null, name = "thread", ...own } = options;
  const {
    clock = systemClock,
    ids = randomIds,
    machine = conversationMachine(),
    pollMs = hub === null ? 200 : 1_000,
  } = own;
  const store = engineStore({ thread: threadsAt({ url, headers, name }), hub, clock });
  return createHost({ ...own, machine, clock, ids, pollMs, store, snapshotEvery: 0, llm: notHere });
};

const connectOptionKinds: OptionKinds<ConnectOptions> = {
  url: kinds.needed(kinds.of("an address such as http://127.0.0.1:8080", (url) => URL.canParse(String(url)))),
  headers: kinds.anything,
  hub: kinds.anything,
  name: kinds.anything,
  machine: kinds.anything,
  clock: kinds.anything,
  ids: kinds.anything,
  defaultThread: kinds.anything,
  pollMs: kinds.anything,
};

/** Rejects: the workers call the models. */
const notHere: HostOptions["llm"] = () => Promise.reject(new Error("models are called by the workers of the engine"));

interface IngressOptions {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly name: string;
}

/** Returns threads by id. The errors of their calls say what to do. */
const threadsAt = (options: IngressOptions): ((threadId: string) => clients.IngressClient<ThreadHandlers>) => {
  const { url, headers, name } = options;
  const ingress = clients.connect({ url, headers: { ...headers }, fetch: fetchInWords(options) });
  return (threadId) => ingress.objectClient<ThreadHandlers>({ name }, threadId);
};

const fetchInWords = ({ url, name }: IngressOptions): typeof fetch => {
  // The origin has no password.
  const { origin } = new URL(url);
  return async (address, init) => {
    const signal = AbortSignal.timeout(answerMs);
    const answer = await fetch(address, { ...init, signal }).catch((cause: unknown) => {
      const problem = signal.aborted
        ? `no worker of "${name}" answered within ${answerMs / 1000} s; start one, where the last one was or by serve({ …, admin })`
        : `Restate does not answer at ${origin}; start its server, or give the address of its ingress`;
      throw new Error(problem, { cause });
    });
    if (answer.ok) return answer;
    const { status, headers } = answer;
    const text = await errorTextOf(answer, signal);
    if (status !== 404) return new Response(text, { status, headers });
    throw new Error(
      `no worker of "${name}" is known at ${origin}; start one by serve({ …, admin }), or give the address of Restate's ingress`,
    );
  };
};

/** The milliseconds that a call may take. No handler waits for a model or a tool, but a call may wait for a worker. */
const answerMs = 20_000;
