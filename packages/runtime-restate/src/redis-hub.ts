import { ConfigurationError } from "@colloquy/machine";
import { reasonOf } from "@colloquy/runtime-node";
import { createClient } from "redis";
import { type Hub, hubMessageIn } from "./hub.ts";

/** Where the Redis is, and under which names it is used. */
export interface RedisHubOptions {
  readonly url: string;
  /** Leads the names of the channels, so that several engines may share a Redis. Default `colloquy`. */
  readonly prefix?: string;
  /** Called when Redis can't be reached, once until it is again. Default: it is said on the console; nothing depends on the hub. */
  readonly onError?: (error: unknown) => void;
}

/** A hub for workers and those who ask in several processes: a channel of Redis for each thread. It connects when it is first used, and again when the connection is lost. @throws ConfigurationError for an address that is none */
export const redisHub = ({ url, prefix = "colloquy", onError = sayOnConsole }: RedisHubOptions): Hub => {
  // It may have a password in it.
  if (!URL.canParse(url) || !/^rediss?:/.test(url))
    throw new ConfigurationError("redisHub: url must be an address such as redis://127.0.0.1:6379");
  const channelOf = (threadId: string): string => `${prefix}:shown:${threadId}`;
  // What can't be sent at once is of no use later; a subscription is.
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
      // What was still on its way fails by this.
      isClosed = true;
      for (const client of [publisher, subscriber]) if (client.isOpen()) client().destroy();
    },
  };
};

/** A client that is made and connected when it is first wanted. */
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
    // What fails is an error as well, and is tried again.
    client.connect().catch(() => {});
    return client;
  };
  return Object.assign(() => (client ??= made()), { isOpen: () => client?.isOpen === true });
};

const sayOnConsole = (error: unknown): void =>
  console.error(`Colloquy: what happens is shown late, as the hub does not reach its Redis: ${reasonOf(error)}`);
