import { createHost, type Host, type HostOptions } from "@colloquy/host";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import { conversationMachine } from "@colloquy/machine";
import { randomIds, systemClock } from "@colloquy/runtime-node";
import { engineStore } from "./engine-store.ts";
import type { Hub } from "./hub.ts";
import { threadsAt } from "./ingress.ts";

/** How an engine is reached. */
export interface ConnectOptions extends Partial<
  Pick<HostOptions, "machine" | "clock" | "ids" | "defaultThread" | "pollMs">
> {
  /** The address of Restate's ingress, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Sent with each request, as where the ingress wants a key. */
  readonly headers?: { readonly [name: string]: string };
  /** That of the workers: what happens is shown at once. Default: none; what happens is read in the journal every `pollMs`. */
  readonly hub?: Hub;
  /** The name of the threads' object, as the workers have it. Default `thread`. */
  readonly name?: string;
}

/**
 * A host whose threads live on an engine: it asks, sends and reads. Models and tools are called by the workers, so what they
 * are made with counts, and this host's machine (default: one of no tools) only where a prompt is explained or messages are
 * imported. With a hub the journal is looked at every 5 seconds (five times `pollMs`), should something have got lost; without one every 200 ms.
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
  headers: true,
  hub: true,
  name: true,
  machine: true,
  clock: true,
  ids: true,
  defaultThread: true,
  pollMs: true,
};

/** A host over an engine calls no model. */
const notHere: HostOptions["llm"] = () => Promise.reject(new Error("models are called by the workers of the engine"));
