import { randomUUID } from "node:crypto";

import { createClient } from "redis";
import { afterAll, describe } from "vitest";

/** The server for the tests of one file, named by COLLOQUY_REDIS_URL. */
export interface RedisServer {
  readonly url: string;
  /** Returns a prefix that no other test has. Its keys are deleted after the tests. */
  readonly prefix: () => string;
  /** Returns all keys and values of a prefix as one text. */
  readonly everything: (prefix: string) => Promise<string>;
}

/** Declares tests that need a Redis. Without one they are skipped, and their name says why. */
export const withRedis = (name: string, tests: (server: RedisServer) => void): void => {
  const url = process.env["COLLOQUY_REDIS_URL"] ?? "";
  const ours = `test-${randomUUID()}`;
  let prefixes = 0;
  const server: RedisServer = {
    url,
    prefix: () => `${ours}-${(prefixes += 1)}:`,
    everything: (prefix) => withClient(url, (client) => dump(client, prefix)),
  };
  // The report shows the reason.
  const leftOut =
    url === "" ? " (left out: COLLOQUY_REDIS_URL names no server; `pnpm servers pnpm test` starts one)" : "";
  describe.skipIf(url === "")(`${name}${leftOut}`, () => {
    // Declared before the tests' own hooks, which then run first.
    afterAll(() =>
      withClient(url, async (client) => {
        for await (const keys of client.scanIterator({ MATCH: `${ours}-*` })) {
          if (keys.length > 0) await client.unlink(keys);
        }
      }),
    );
    tests(server);
  });
};

const clientOf = (url: string) => createClient({ url });

type Client = ReturnType<typeof clientOf>;

const withClient = async <A>(url: string, use: (client: Client) => Promise<A>): Promise<A> => {
  const client = clientOf(url);
  await client.connect();
  try {
    return await use(client);
  } finally {
    client.destroy();
  }
};

const dump = async (client: Client, prefix: string): Promise<string> => {
  const found: unknown[] = [];
  for await (const keys of client.scanIterator({ MATCH: `${prefix}*` })) {
    for (const key of keys) found.push(key, await valueOf(client, key));
  }
  return JSON.stringify(found);
};

const valueOf = async (client: Client, key: string): Promise<unknown> => {
  switch (await client.type(key)) {
    case "hash":
      return client.hGetAll(key);
    case "list":
      return client.lRange(key, 0, -1);
    case "zset":
      return client.zRange(key, 0, -1);
    default:
      return client.get(key);
  }
};
