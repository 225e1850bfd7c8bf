import { EventEmitter } from "node:events";
import { inspect } from "node:util";

import { StorageError } from "@colloquy/host/store";
import { createClient, RESP_TYPES } from "redis";
import { expect, test } from "vitest";

import { redisFailure } from "../../../src/stores/redis/connection.ts";
import { redisStore } from "../../../src/stores/redis/index.ts";
import { checkDamagedAnswer, checkDamagedLetters } from "../damaged-inbox.ts";
import { said, take } from "../journal.ts";
import { withRedis } from "./server.ts";

test.each([
  ["that is no address", "hunter2"],
  ["of another protocol", "http://user:hunter2@127.0.0.1:1"],
  ["with a password that is not encoded", "redis://user:hunter2/x@y:port"],
])("a url %s is refused by each call, without showing it", async (_, url) => {
  const store = redisStore({ url });
  const error: unknown = await store.list().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: "StorageError", kind: "cannot-open" });
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("hunter2");
});

test("a server that is not there is told by its address, without user and password", async () => {
  const store = redisStore({ url: "redis://user:hunter2@127.0.0.1:1/0", prefix: "ours:" });
  for (let tries = 0; tries < 2; tries++) {
    const error: unknown = await store.list().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "StorageError", kind: "unreachable" });
    expect(String(error)).toMatch(/^StorageError: Redis store "ours:" at 127\.0\.0\.1:1: its server does not answer; /);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("hunter2");
  }
  await store.close();
  await expect(store.list()).rejects.toMatchObject({ kind: "closed" });
});

test("names the usual port in errors when the url has none", async () => {
  const store = redisStore({ url: "redis://user:hunter2@redis.invalid", prefix: "ours:" });
  await store.close();
  await expect(store.list()).rejects.toThrow('Redis store "ours:" at redis.invalid:6379: it was closed');
});

test("a lost connection of a client without a listener ends no process; several stores add one listener", () => {
  const nothing = async (): Promise<unknown> => null;
  const client = Object.assign(new EventEmitter(), { eval: nothing, evalSha: nothing });
  for (const prefix of ["ours:", "theirs:"]) redisStore({ client, prefix });
  expect(client.emit("error", new Error("Socket closed unexpectedly"))).toBe(true);
  expect(client.listenerCount("error")).toBe(1);
});

test("a listing asks for at most 500 places at a time, so that no other client of the server waits long", async () => {
  const asked: unknown[] = [];
  const evalSha = async (_: string, options: { readonly arguments: readonly string[] }): Promise<unknown> => {
    asked.push(options.arguments.at(-1));
    return asked.length === 1 ? 1 : [];
  };
  const client = Object.assign(new EventEmitter(), { evalSha, eval: evalSha });
  const store = redisStore({ client });
  for (const limit of [1000, 20]) expect(await store.list({ limit })).toEqual({ threads: [], next: null });
  expect(asked.slice(1)).toEqual(["500", "21"]);
});

const gone =
  "its server does not answer; look whether it runs, and try again. Whether the last write arrived is not known";
const notNow = "its server can't answer now; try again";
const refusal = "the server refuses the login; check the user, its password and its rights";

test.each([
  [
    "OOM command not allowed when used memory > 'maxmemory'.",
    "full",
    "its server has no memory left; make room or allow more, and try again",
  ],
  [
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
    "io",
    "its server can't write to its disk, and takes no writes; look at the disk",
  ],
  [
    "READONLY You can't write against a read only replica.",
    "read-only",
    "this is a replica; connect to the primary server",
  ],
  ["NOAUTH Authentication required.", "cannot-open", refusal],
  ["WRONGPASS invalid username-password pair or user is disabled.", "cannot-open", refusal],
  ["NOPERM this user has no permissions to run the 'set' command", "cannot-open", refusal],
  ["LOADING Redis is loading the dataset in memory", "unreachable", notNow],
  ["MASTERDOWN Link with MASTER is down", "unreachable", notNow],
  ["CLUSTERDOWN The cluster is down", "unreachable", notNow],
  ["TRYAGAIN Multiple keys request during rehashing of slot", "unreachable", notNow],
  ["NOREPLICAS Not enough good replicas to write.", "unreachable", notNow],
  ["BUSY Redis is busy running a script.", "locked", "a script of another client keeps it busy; try again"],
  [
    "WRONGTYPE Operation against a key holding the wrong kind of value",
    "not-a-store",
    "a key with its prefix belongs to something else; choose another prefix",
  ],
  ["Socket closed unexpectedly", "unreachable", gone],
  ["The client is offline", "unreachable", gone],
  ["Connection timeout", "unreachable", gone],
  ["The client is closed", "closed", "its client is closed; connect it first"],
  ["ERR something else", "failed", "it failed"],
  ["BUSYGROUP Consumer Group name already exists", "failed", "it failed"],
])("%s is a failure of kind %s, and says: %s", (message, kind, advice) => {
  const cause = new Error(message);
  const failure = redisFailure(cause, "the store");
  expect(failure).toMatchObject({ name: "StorageError", kind, cause });
  expect(String(failure)).toBe(`StorageError: the store: ${advice} (${message.replace(/\.$/, "")}).`);
});

test("an error of the system is that of a lost server, by its message or else its code; others stay the same", () => {
  const failureOf = (error: Error): string => String(redisFailure(error, "the store"));
  const withCode = (message: string): Error => Object.assign(new Error(message), { code: "ECONNREFUSED" });
  expect(failureOf(withCode("connect ECONNREFUSED 127.0.0.1:1"))).toBe(
    `StorageError: the store: ${gone} (connect ECONNREFUSED 127.0.0.1:1).`,
  );
  expect(failureOf(withCode(""))).toBe(`StorageError: the store: ${gone} (ECONNREFUSED).`);
  expect(failureOf(new AggregateError([], "all failed"))).toBe(`StorageError: the store: ${gone} (all failed).`);
  expect(failureOf(Object.assign(new Error("odd"), { code: 7 }))).toBe("StorageError: the store: it failed (odd).");
  const own = new StorageError("full", "no room");
  for (const error of [own, "odd", null]) expect(redisFailure(error, "the store")).toBe(error);
});

withRedis("Redis that refuses", (server) => {
  test("a password that is wrong is told in words, without it", async () => {
    const url = new URL(server.url);
    url.username = "nobody";
    url.password = "hunter2";
    const store = redisStore({ url: url.href });
    const error: unknown = await store.list().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "StorageError", kind: "cannot-open" });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("hunter2");
    await store.close();
  });

  test("keys that a newer version wrote are left alone, and so are those of something else", async () => {
    const [newer, foreign, client] = [server.prefix(), server.prefix(), createClient({ url: server.url })];
    await client.connect();
    await client.set(`${newer}format`, "2");
    const behind = redisStore({ client, prefix: newer });
    await expect(behind.read("thread")).rejects.toMatchObject({ name: "StorageError", kind: "newer" });
    await client.set(`${foreign}{thread}:entries`, "theirs");
    const store = redisStore({ client, prefix: foreign });
    const lease = await take(store);
    await expect(store.append(lease, -1, [said(0, "ours")])).rejects.toMatchObject({ kind: "not-a-store" });
    expect(await client.get(`${foreign}{thread}:entries`)).toBe("theirs");
    client.destroy();
  });

  test("a store of an address opens one connection for its first calls, and closes it", async () => {
    const client = createClient({ url: server.url });
    await client.connect();
    const address = new URL(server.url);
    address.pathname = "/9";
    const connections = async (): Promise<number> => (await client.clientList()).filter(({ db }) => db === 9).length;
    const prefix = server.prefix();
    const store = redisStore({ url: address.href, prefix });
    expect(await connections()).toBe(0);
    const pages = await Promise.all([store.list(), store.list(), store.list()]);
    expect(pages.map(({ threads }) => threads)).toEqual([[], [], []]);
    expect(await connections()).toBe(1);
    await store.close();
    await expect.poll(connections).toBe(0);
    await client.select(9);
    for await (const keys of client.scanIterator({ MATCH: `${prefix}*` }))
      if (keys.length > 0) await client.unlink(keys);
    client.destroy();
  });

  test("a client that was handed in is not closed, and a closed store says that it is closed", async () => {
    const client = createClient({ url: server.url });
    await client.connect();
    const store = redisStore({ client, prefix: server.prefix() });
    await store.append(await take(store), -1, [said(0, "by a client")]);
    await store.close();
    await store.close();
    await expect(store.list()).rejects.toMatchObject({ name: "StorageError", kind: "closed" });
    expect(await client.ping()).toBe("PONG");
    const again = redisStore({ client, prefix: server.prefix() });
    client.destroy();
    await expect(again.list()).rejects.toMatchObject({ name: "StorageError", kind: "closed" });
  });

  test("a client that reads numbers as texts is told of a lost lease too", async () => {
    const commandOptions = { typeMapping: { [RESP_TYPES.NUMBER]: String } };
    const client = createClient({ url: server.url, commandOptions });
    await client.connect();
    const store = redisStore({ client, prefix: server.prefix() });
    const lease = await take(store, "thread", "first");
    await store.append(lease, -1, [said(0, "first")]);
    await store.release(lease);
    await take(store, "thread", "second");
    await expect(store.rewrite(lease, [said(0, "other")])).rejects.toMatchObject({ name: "LeaseLostError" });
    client.destroy();
  });

  test("an entry that is damaged is named", async () => {
    const [prefix, client] = [server.prefix(), createClient({ url: server.url })];
    await client.connect();
    const store = redisStore({ client, prefix });
    await store.append(await take(store), -1, [said(0, "first"), said(1, "second")]);
    await client.lSet(`${prefix}{thread}:entries`, 1, "{torn");
    await expect(store.read("thread")).rejects.toThrow(/entry 1 of thread "thread" is not JSON/);
    client.destroy();
  });

  test("a letter that is damaged keeps no other from being read", async () => {
    const [prefix, client] = [server.prefix(), createClient({ url: server.url })];
    await client.connect();
    const store = redisStore({ client, prefix });
    const spoiling = (kept: string) => (threadId: string, id: string, text: string) =>
      client.hSet(`${prefix}{${threadId}}:${kept}`, id, text);
    await checkDamagedLetters(store, spoiling("letters"));
    await checkDamagedAnswer(store, spoiling("answers"));
    client.destroy();
  });

  test("leases run out by the server's time when no clock is given", async () => {
    const [prefix, client] = [server.prefix(), createClient({ url: server.url })];
    await client.connect();
    const store = redisStore({ client, prefix });
    const lease = await take(store, "thread", "first", 60_000);
    expect(await store.acquire("thread", "second", 60_000)).toBeNull();
    const until = Number(await client.hGet(`${prefix}{thread}:lease`, "until"));
    await client.hSet(`${prefix}{thread}:lease`, "until", String(until - 60_001));
    await expect(store.append(lease, -1, [said(0, "late")])).rejects.toMatchObject({ name: "LeaseLostError" });
    const next = await take(store, "thread", "second", 60_000);
    await store.append(next, -1, [said(0, "in time")]);
    client.destroy();
  });
});
