import { createClient } from "redis";
import { StorageError, type StorageProblem } from "@colloquy/host/store";
import { formatKey } from "./keys.ts";
import { formatOf, type Script } from "./scripts.ts";
import { answerInTime, untilDone } from "../servers.ts";

/** The parts of a client of the package `redis` that a store uses. It may be a cluster's client. */
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
  /** A description of the store for messages. */
  readonly name: string;
  readonly prefix: string;
  /** Returns the time that leases are judged by; empty for the server's. */
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

/** Makes a connection. The first script connects. If the address is invalid, every script is rejected. */
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
      // The connection may be dead without knowing it, and would swallow the next commands.
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

/** The version of the keys and their contents. */
const format = 1;

/** A source of a connected client. */
interface Way {
  /** The address without user and password; empty if unknown. */
  readonly address: string;
  /** Returns a connected client; rejects with the reason if it cannot connect. */
  readonly client: () => Promise<RedisClient>;
  /** Closes the connection, so that the next client gets a new one. A client that the user passed is left alone. */
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
  // A lost connection emits an error event, which would end the process if it had no listener.
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
      // The next call reconnects a broken connection.
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

/** Makes a client; returns null if the address is invalid. The parser's error may contain the password. */
const makeClient = (url: string | undefined, timeoutMs: number) => {
  if (url === undefined) return null;
  const options = {
    url,
    // A command that cannot be sent now fails now; its caller decides whether to retry.
    disableOfflineQueue: true,
    // An idle store does not try to reconnect.
    socket: { connectTimeout: timeoutMs, reconnectStrategy: false as const },
  };
  try {
    // An open store must not keep the process alive.
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

/** Turns an error of `redis` into one that names the store and a remedy. Other errors are returned unchanged. */
export const redisFailure = (error: unknown, store: string): unknown => {
  if (!(error instanceof Error) || error instanceof StorageError) return error;
  const [kind, advice] = problemOf(error);
  return new StorageError(kind, `${store}: ${advice} (${wordsOf(error)}).`, { cause: error });
};

const problemOf = (error: Error): readonly [StorageProblem, string] => {
  // Its name is generic, and its class differs between copies of the package.
  if (error.message === "The client is closed") return ["closed", "its client is closed; connect it first"];
  const known = problems[/^[A-Z]+(?= )/.exec(error.message)?.[0] ?? ""];
  if (known !== undefined) return known;
  return isOfConnection(error) ? ["unreachable", gone] : ["failed", "it failed"];
};

const isOfConnection = (error: Error): boolean =>
  ("code" in error && typeof error.code === "string") ||
  error instanceof AggregateError ||
  /socket|connection|offline|timeout|disconnect|unavailable|aborted/i.test(error.message);

const wordsOf = (error: Error): string =>
  error.message === "" && "code" in error ? String(error.code) : error.message.replace(/\.$/, "");

const gone =
  "its server does not answer; look whether it runs, and try again. Whether the last write arrived is not known";
const notNow = "its server can't answer now; try again";
const refused = "the server refuses the login; check the user, its password and its rights";

/** Problems by the first word of Redis' answer. */
const problems: { readonly [word: string]: readonly [StorageProblem, string] | undefined } = {
  OOM: ["full", "its server has no memory left; make room or allow more, and try again"],
  MISCONF: ["io", "its server can't write to its disk, and takes no writes; look at the disk"],
  READONLY: ["read-only", "this is a replica; connect to the primary server"],
  NOAUTH: ["cannot-open", refused],
  WRONGPASS: ["cannot-open", refused],
  NOPERM: ["cannot-open", refused],
  LOADING: ["unreachable", notNow],
  MASTERDOWN: ["unreachable", notNow],
  CLUSTERDOWN: ["unreachable", notNow],
  TRYAGAIN: ["unreachable", notNow],
  NOREPLICAS: ["unreachable", notNow],
  BUSY: ["locked", "a script of another client keeps it busy; try again"],
  WRONGTYPE: ["not-a-store", "a key with its prefix belongs to something else; choose another prefix"],
};
