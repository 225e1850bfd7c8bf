import { ConfigurationError } from "@colloquy/machine";
import { reasonOf } from "@colloquy/runtime-node";
import { createClient } from "redis";
import { type Hub, hubMessageIn } from "./hub.ts";

/** The address of the Redis, and the names that are used there. */
export interface RedisHubOptions {
  readonly url: string;
  /** Begins the names of the channels, so that several engines may share a Redis. Default `colloquy`. */
  readonly prefix?: string;
  /** Called once each time Redis can no longer be reached. Nothing depends on the hub. Default: writes to the console. */
  readonly onError?: (error: unknown) => void;
}

/**
 * A hub for workers and hosts in several processes, with a channel of Redis for each thread. It connects at the first use,
 * and again when the connection is lost.
 *
 * @throws ConfigurationError for an invalid address
 */
export const redisHub = ({ url, prefix = "colloquy", onError = sayOnConsole }: RedisHubOptions): Hub => {
  // The address may hold a password, so the error does not quote it.
  if (!URL.canParse(url) || !/^rediss?:/.test(url))
    throw new ConfigurationError("redisHub: url must be an address such as redis://127.0.0.1:6379");
  const channelOf = (threadId: string): string => `${prefix}:shown:${threadId}`;
  // A message that can't be sent at once is of no use later; a subscription is.
  const publisher = clientOf(url, true, onError);
  const subscriber = clientOf(url, false, onError);
  let isClosed = false;
  const report = (done: Promise<unknown>): void => void done.catch((error) => isClosed || onError(error));
  return {
    publish: (threadId, message) => {
      const client = publisher();
      if (client.isReady) report(client.publish(channelOf(threadId), JSON.stringify(message)));
    },
    subscribe: (threadId, heard) => {
      const listener = (text: string): void => {
        const message = hubMessageIn(text);
        if (message instanceof Error) onError(message);
        else heard(message);
      };
      const channel = channelOf(threadId);
      report(subscriber().subscribe(channel, listener));
      return () => report(subscriber().unsubscribe(channel, listener));
    },
    close: async () => {
      // Calls under way fail now, which is not reported.
      isClosed = true;
      for (const client of [publisher, subscriber]) if (client.isOpen()) client().destroy();
    },
  };
};

/** Makes and connects a client at the first use. */
const clientOf = (url: string, disableOfflineQueue: boolean, onError: (error: unknown) => void) => {
  let client: ReturnType<typeof made> | null = null;
  const made = () => {
    const client = createClient({ url, disableOfflineQueue });
    let isReported = false;
    client.on("ready", () => (isReported = false));
    client.on("error", (error) => {
      if (!isReported) onError(error);
      isReported = true;
    });
    // A failure also emits an error, and the client tries again.
    client.connect().catch(() => {});
    return client;
  };
  return Object.assign(() => (client ??= made()), { isOpen: () => client?.isOpen === true });
};

const sayOnConsole = (error: unknown): void =>
  console.error(`Colloquy: what happens is shown late, as the hub does not reach its Redis: ${reasonOf(error)}`);
