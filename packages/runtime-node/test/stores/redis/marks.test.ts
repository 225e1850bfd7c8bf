import { createClient } from "redis";
import { expect, test } from "vitest";

import { type RedisStore, redisStore } from "../../../src/stores/redis/index.ts";
import { markOf } from "../../../src/stores/redis/keys.ts";
import { take } from "../journal.ts";
import { withRedis } from "./server.ts";

/** The lease time of `take`. */
const ttlMs = 60_000;

withRedis("The marks in Redis", (server) => {
  const setUp = async () => {
    const [prefix, client] = [server.prefix(), createClient({ url: server.url })];
    await client.connect();
    const clock = { time: 1_000, now: () => clock.time };
    return { client, clock, store: redisStore({ client, prefix, clock }), leased: `${prefix}leased`, prefix };
  };

  test("name a thread whose new holder died before it wrote its mark", async () => {
    const { client, clock, store, leased } = await setUp();
    const old = await take(store, "thread");
    clock.time += ttlMs;
    const lease = await take(store, "thread");
    await client.del(leased);
    await client.zAdd(leased, { score: 1_000, value: markOf("thread", old.token) });
    expect(await store.abandoned()).toEqual([]);
    clock.time += ttlMs;
    expect(await store.abandoned()).toEqual(["thread"]);
    await store.release(lease);
    expect(await store.abandoned()).toEqual([]);
    expect(await client.exists(leased)).toBe(0);
    client.destroy();
  });

  test("are looked at again at the end of a lease that was renewed, or when it is cut short", async () => {
    const { client, clock, store, leased } = await setUp();
    const lease = await take(store, "thread");
    const mark = markOf("thread", lease.token);
    clock.time += ttlMs - 1;
    await store.renew(lease, ttlMs);
    expect(await client.zScore(leased, mark)).toBe(1_000 + ttlMs);
    clock.time += 1;
    expect(await store.abandoned()).toEqual([]);
    expect(await client.zScore(leased, mark)).toBe(1_000 + 2 * ttlMs - 1);
    await store.renew(lease, 0);
    expect(await store.abandoned()).toEqual(["thread"]);
    client.destroy();
  });

  test("of inbox items are written again by a second post, and removed if a crash left them", async () => {
    const { client, store, prefix } = await setUp();
    const posted = `${prefix}posted`;
    for (const id of ["\ud800", "b"]) {
      await post(store, "thread", id);
      await client.del(posted);
      await post(store, "thread", id);
      expect(await store.inbox.waiting()).toEqual(["thread"]);
      await store.inbox.discard("thread", id);
      expect(await client.exists(posted)).toBe(0);
    }
    await client.zAdd(posted, { score: 0, value: markOf("thread", "b") });
    expect(await store.inbox.waiting()).toEqual([]);
    expect(await client.exists(posted)).toBe(0);
    client.destroy();
  });

  test("name each of many threads once", async () => {
    const { client, clock, store } = await setUp();
    const threadIds = Array.from({ length: 1_200 }, (_, index) => `thread ${index}`);
    await Promise.all(threadIds.map((threadId) => take(store, threadId)));
    await Promise.all(threadIds.flatMap((threadId) => ["a", "b"].map((id) => post(store, threadId, id))));
    clock.time += ttlMs;
    expect([...(await store.abandoned())].sort()).toEqual([...threadIds].sort());
    expect([...(await store.inbox.waiting())].sort()).toEqual([...threadIds].sort());
    client.destroy();
  });
});

const post = ({ inbox }: RedisStore, threadId: string, id: string): Promise<void> =>
  inbox.post(threadId, { id, event: { type: "cancel.requested", at: 3, reason: id } });
