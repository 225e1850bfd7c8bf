import { createClient } from "redis";

import { answerInTime, untilDone } from "../answer-in-time.ts";
import { StorageError } from "@colloquy/host/store";
import { redisFailure } from "./failure.ts";
import { formatKey } from "./keys.ts";
import { formatOf, type Script } from "./scripts.ts";

/** What a store needs of a client of the package `redis`, which may be that of a cluster. */
export interface RedisClient {
  eval(script: string, options: ScriptOptions): Promise<unknown>;
  evalSha(sha: string, options: ScriptOptions): Promise<unknown>;
  on(event: "error", listener: (error: Error) => void): unknown;
  listenerCount(event: "error"): number;
}

interface ScriptOptions {
  keys: string[];
  arguments: string[];
}

export interface Connection {
  /** The store in words, for messages. */
  readonly name: string;
  readonly prefix: string;
  /** The time that leases are judged by; empty: the server's. */
  readonly now: () => string;
  /** Runs a script. Throws `StorageError`. */
  readonly run: (script: Script, keys: readonly string[], values: readonly (string | number)[]) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

export interface ConnectionOptions {
  readonly client: RedisClient | undefined;
  readonly url: string | undefined;
  readonly prefix: string;
  readonly now: () => string;
  readonly timeoutMs: number;
}

/** Nothing is sent before the first script. Every script is refused if the address is none. */
export const connect = ({ client, url, prefix, now, timeoutMs }: ConnectionOptions): Connection => {
  const way = client === undefined ? ownWay(url, timeoutMs) : givenWay(client);
  const name = `Redis store "${prefix}"${way.address}`;
  let closed = false;
  const attempt = async (script: Script, keys: readonly string[], values: readonly string[]): Promise<unknown> => {
    if (closed) throw new StorageError("closed", `${name}: it was closed; open it again.`);
    const options = { keys: [...keys], arguments: [...values] };
    try {
      return await answerInTime(timeoutMs, evaluate(way, script, options), name);
    } catch (error) {
      // No answer: a connection that is dead without knowing would swallow whatever is sent next.
      if (error instanceof StorageError) way.drop();
      throw redisFailure(error, name);
    }
  };
  const ready = untilDone(async () => {
    const there = Number(await attempt(formatOf, [formatKey(prefix)], [String(format)]));
    if (there <= format) return;
    const known = `and this version of @colloquy/runtime-node knows up to ${format}; update the package`;
    throw new StorageError("newer", `${name}: it has format ${there}, ${known}.`);
  });
  return {
    name,
    prefix,
    now,
    run: async (script, keys, values) => {
      await ready();
      return attempt(script, keys, values.map(String));
    },
    close: async () => {
      closed = true;
      way.drop();
    },
  };
};

/** Of the keys and what is in them. */
const format = 1;

/** How to come by a client. */
interface Way {
  /** Where it leads, without user and password; empty where that is not known. */
  readonly address: string;
  /** A client that is connected; rejects with the reason when it can't be. */
  readonly client: () => Promise<RedisClient>;
  /** Closes its connection: the next client gets another. A client that the user gave is left alone. */
  readonly drop: () => void;
}

const evaluate = async (way: Way, { sha, text }: Script, options: ScriptOptions): Promise<unknown> => {
  const client = await way.client();
  try {
    return await client.evalSha(sha, options);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
    return client.eval(text, options);
  }
};

const givenWay = (client: RedisClient): Way => {
  // A lost connection is emitted as an error event too, which would end the process where nothing listens.
  if (client.listenerCount("error") === 0) client.on("error", ignore);
  return { address: "", client: async () => client, drop: ignore };
};

const ownWay = (url: string | undefined, timeoutMs: number): Way => {
  let client = makeClient(url, timeoutMs);
  let connecting: Promise<unknown> | null = null;
  const { host, port } = { host: "localhost", port: 6379, ...client?.options.socket };
  return {
    address: client === null ? "" : ` at ${host}:${port}`,
    client: async () => {
      if (client === null) throw new StorageError("cannot-open", noAddress);
      // One whose connection broke is connected again by the next call.
      if (!client.isOpen) connecting = client.connect();
      if (!client.isReady) await connecting;
      return client;
    },
    drop: () => {
      if (client?.isOpen !== true) return;
      client.destroy();
      client = makeClient(url, timeoutMs);
    },
  };
};

/** Null for what is no address, such as an environment variable that is not set. The error may show it, with its password: it is not passed on. */
const makeClient = (url: string | undefined, timeoutMs: number) => {
  if (url === undefined) return null;
  const options = {
    url,
    // What can't be sent now fails now: its caller decides whether it is to be sent again.
    disableOfflineQueue: true,
    // An idle store does not knock at a door that is shut.
    socket: { connectTimeout: timeoutMs, reconnectStrategy: false as const },
  };
  try {
    // An open store is no reason for a process to stay.
    const client = createClient(options).on("error", ignore);
    client.unref();
    return client;
  } catch {
    return null;
  }
};

const noAddress =
  'redisStore: url is no address of a Redis; give one like "redis://user:password@host:6379/0", with special characters percent-encoded.';

const ignore = (): void => {};
