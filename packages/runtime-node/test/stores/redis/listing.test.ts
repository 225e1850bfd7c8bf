import { createClient } from "redis";
import { expect, test } from "vitest";

import { redisStore } from "../../../src/stores/redis/index.ts";
import { placeOf } from "../../../src/stores/redis/keys.ts";
import { said, take } from "../journal.ts";
import { withRedis } from "./server.ts";

withRedis("The listing in Redis", (server) => {
  test("passes over places that a crash left without a thread, and strikes them out", async () => {
    const [prefix, client] = [server.prefix(), createClient({ url: server.url })];
    await client.connect();
    const store = redisStore({ client, prefix });
    const places = `${prefix}threads`;
    const made = await take(store, "made");
    await store.append(made, -1, []);
    expect(await client.zCard(places)).toBe(0);
    await store.append(made, -1, [said(0, "there")]);
    await store.append(made, 0, [said(1, "there")]);
    expect(await client.zCard(places)).toBe(1);
    const begun = await take(store, "begun");
    // A process may end between the listing and the entry, or between the entries and the listing.
    for (const [threadId, token] of [
      ["begun", begun.token],
      ["deleted", 7],
      ["made", made.token - 1],
    ] as const)
      await client.zAdd(places, { score: 0, value: placeOf({ createdAt: 0, threadId }, token) });
    expect((await store.list()).threads.map(({ threadId }) => threadId)).toEqual(["made"]);
    // The lease of "begun" is in force, and its holder may yet append.
    const left = [
      placeOf({ createdAt: 0, threadId: "begun" }, begun.token),
      placeOf({ createdAt: 0, threadId: "made" }, made.token),
    ];
    expect(await client.zRange(places, 0, -1)).toEqual(left);
    await store.append(begun, -1, [said(0, "there too")]);
    expect((await store.list({ order: "oldest" })).threads.map(({ threadId }) => threadId)).toEqual(["begun", "made"]);
    client.destroy();
  });

  test("has nothing of a thread that was deleted, nor has any key", async () => {
    const prefix = server.prefix();
    const store = redisStore({ url: server.url, prefix });
    const lease = await take(store, "zanzibar");
    await store.append(lease, -1, [said(0, "zanzibar"), said(1, "zanzibar")]);
    const chunks = new Map([["1-64", "zanzibar"]]);
    await store.saveSnapshot(lease, { threadId: "zanzibar", seq: 1, head: "zanzibar", chunks, dropped: [] });
    for (const id of ["answered", "unanswered"])
      await store.inbox.post("zanzibar", { id, event: { type: "cancel.requested", at: 3, reason: "zanzibar" } });
    await store.inbox.answer(lease, [{ id: "answered", handled: true, seq: 1 }]);
    expect((await server.everything(prefix)).split("zanzibar").length).toBeGreaterThan(10);
    await store.delete("zanzibar");
    expect(await server.everything(prefix)).toBe(JSON.stringify([`${prefix}format`, "1"]));
    await store.close();
  });
});
