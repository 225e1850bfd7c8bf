import { createClient } from "redis";
import { expect, test } from "vitest";

import { type RedisStore, redisStore } from "../../../src/stores/redis/index.ts";
import { markOf } from "../../../src/stores/redis/keys.ts";
import { postpone } from "../../../src/stores/redis/scripts.ts";
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

  test("are one for the newest lease of a thread, and none after its release, whatever earlier holders do", async () => {
    const { client, clock, store, leased } = await setUp();
    const marks = (): Promise<readonly string[]> => client.zRange(leased, 0, -1);
    const first = await take(store, "thread");
    const second = await take(store, "thread");
    expect(await marks()).toEqual([markOf("thread", second.token)]);
    await store.release(first);
    expect(await store.renew(first, 0)).toBe(false);
    expect(await store.acquire("thread", "another", ttlMs)).toBeNull();
    expect(await marks()).toEqual([markOf("thread", second.token)]);
    clock.time += ttlMs;
    expect(await store.abandoned()).toEqual(["thread"]);
    await store.release(second);
    expect(await marks()).toEqual([]);
    client.destroy();
  });

  test("are one for each unanswered item, whichever others are answered, discarded or posted again", async () => {
    const { client, store, prefix } = await setUp();
    const marks = (): Promise<readonly string[]> => client.zRange(`${prefix}posted`, 0, -1);
    const lease = await take(store, "thread");
    for (const id of ["a", "b", "c", "d"]) await post(store, "thread", id);
    await store.inbox.answer(lease, [
      { id: "a", handled: true, seq: 1 },
      { id: "b", handled: true, seq: 1 },
    ]);
    await store.inbox.discard("thread", "c");
    await store.inbox.discard("thread", "none");
    await post(store, "thread", "a");
    expect(await marks()).toEqual([markOf("thread", "d")]);
    expect(await store.inbox.waiting()).toEqual(["thread"]);
    await store.delete("thread", lease);
    expect([await marks(), await store.inbox.waiting()]).toEqual([[], []]);
    client.destroy();
  });

  test("that were written again while a reader looked keep their newer time", async () => {
    const { client, leased } = await setUp();
    await client.zAdd(leased, [
      { score: 5, value: "same" },
      { score: 6, value: "newer" },
    ]);
    const looked = ["same", "5", "9", "newer", "5", "9", "gone", "5", "9"];
    await client.eval(postpone.text, { keys: [leased], arguments: looked });
    expect(await client.zRangeWithScores(leased, 0, -1)).toEqual([
      { score: 6, value: "newer" },
      { score: 9, value: "same" },
    ]);
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
