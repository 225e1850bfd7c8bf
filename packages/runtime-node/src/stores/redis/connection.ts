import { createClient } from "redis";

import { answerInTime } from "../answer-in-time.ts";
import { StorageError } from "../storage-error.ts";
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

/** Nothing is sent before the first script. Throws `StorageError` for what can't be an address. */
export const connect = ({ client: given, url, prefix, now, timeoutMs }: ConnectionOptions): Connection => {
  const own = given === undefined ? ownClient(url, timeoutMs) : null;
  const client = given ?? own?.client;
  const name = `Redis store "${prefix}"${own?.address ?? ""}`;
  let closed = false;
  let checked: Promise<void> | null = null;
  // A server that goes away is told as an event also, which ends the process where nobody listens.
  if (client?.listenerCount("error") === 0) client.on("error", ignore);
  const attempt = async (script: Script, keys: readonly string[], values: readonly string[]): Promise<unknown> => {
    if (closed || client === undefined) throw new StorageError("closed", `${name}: it was closed; open it again.`);
    const options = { keys: [...keys], arguments: [...values] };
    const evaluate = async (): Promise<unknown> => {
      await own?.ready();
      try {
        return await client.evalSha(script.sha, options);
      } catch (error) {
        if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
        return client.eval(script.text, options);
      }
    };
    try {
      return await answerInTime(timeoutMs, evaluate(), name);
    } catch (error) {
      // No answer: a connection that is dead without knowing would swallow whatever is sent next.
      if (error instanceof StorageError) own?.drop();
      throw redisFailure(error, name);
    }
  };
  const check = async (): Promise<void> => {
    const there = Number(await attempt(formatOf, [formatKey(prefix)], [String(format)]));
    if (there <= format) return;
    const known = `and this version of @colloquy/runtime-node knows up to ${format}; update the package`;
    throw new StorageError("newer", `${name}: it has format ${there}, ${known}.`);
  };
  const ready = (): Promise<void> =>
    (checked ??= check().catch((error: unknown) => {
      checked = null;
      throw error;
    }));
  return {
    name,
    prefix,
    now,
    run: async (script, keys, values) => {
      await ready();
      return attempt(script, keys, values.map(String));
    },
    close: async () => {
      if (closed) return;
      closed = true;
      own?.drop();
    },
  };
};

/** Of the keys and what is in them. */
const format = 1;

interface OwnClient {
  readonly client: RedisClient;
  readonly address: string;
  /** Connected; rejects with the reason when it can't be just now. It goes on trying by itself. */
  readonly ready: () => Promise<void>;
  /** Breaks the connection; `ready` makes another. */
  readonly drop: () => void;
}

const ownClient = (url: string | undefined, timeoutMs: number): OwnClient => {
  const client = makeClient(url, timeoutMs);
  // An open store is no reason for a process to stay.
  client.unref();
  const { host, port } = { host: "localhost", port: 6379, ...client.options.socket };
  const connect = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle = (error?: Error): void => {
        client.off("ready", settle).off("error", settle);
        connecting = null;
        if (error === undefined) resolve();
        else reject(error);
      };
      client.on("ready", settle).on("error", settle);
      if (!client.isOpen) client.connect().catch(ignore);
    });
  let connecting: Promise<void> | null = null;
  return {
    client,
    address: ` at ${host}:${port}`,
    ready: async () => {
      if (!client.isReady) await (connecting ??= connect());
    },
    drop: () => {
      connecting = null;
      if (client.isOpen) client.destroy();
    },
  };
};

const makeClient = (url: string | undefined, timeoutMs: number) => {
  try {
    return createClient({
      ...(url !== undefined && { url }),
      // What can't be sent now fails now: its caller decides whether it is to be sent again.
      disableOfflineQueue: true,
      socket: {
        connectTimeout: timeoutMs,
        reconnectStrategy: (retries) => Math.min(50 * 2 ** Math.min(retries, 10), reconnectMsMax),
      },
    });
  } catch {
    // The error may show the address with its password: it is not passed on.
    throw new StorageError(
      "cannot-open",
      'redisStore: url is no address of a Redis; give one like "redis://user:password@host:6379/0", with special characters percent-encoded.',
    );
  }
};

const reconnectMsMax = 500;

const ignore = (): void => {};
