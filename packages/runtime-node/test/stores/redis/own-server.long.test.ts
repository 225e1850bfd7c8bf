import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { storeContract } from "@colloquy/runtime-test/contracts";
import { createClient, createCluster } from "redis";
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from "vitest";

import { freePort, type Server } from "../../../../../proof/servers/process.ts";
import { startRedis } from "../../../../../proof/servers/redis.ts";
import { redisStore } from "../../../src/stores/redis/index.ts";
import { said, take } from "../journal.ts";
import { withRedis } from "./server.ts";

withRedis("Redis servers of their own", ({ prefix }) => {
  describe("a cluster", () => {
    let folder: string;
    let server: Server;
    let cluster: ReturnType<typeof clusterAt>;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "colloquy-redis-"));
      const settings = { appendonly: "no", "cluster-enabled": "yes", "cluster-announce-ip": "127.0.0.1" };
      server = await startRedis({ folder, settings });
      await takeAllSlots(server.url);
      cluster = clusterAt(server.url);
      await cluster.connect();
    }, startingMsMax);
    afterAll(async () => {
      cluster.destroy();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    storeContract("redisStore on a cluster", async ({ clock }) => {
      const ours = prefix();
      const open = async () => redisStore({ client: cluster, prefix: ours, clock });
      return { store: await open(), reopen: open, another: open };
    });
  });

  describe("a server that writes each command to its disk", () => {
    let folder: string;
    let server: Server;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), "colloquy-redis-"));
    });
    afterEach(async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    test("loses nothing that was acknowledged when it is killed, and the store goes on without a restart", async () => {
      const own = { folder, settings: { appendonly: "yes", appendfsync: "always" }, port: await freePort() };
      server = await startRedis(own);
      const store = redisStore({ url: server.url });
      const lease = await take(store);
      let newest = -1;
      for (let kills = 0; kills < 3; kills += 1) {
        const target = newest + 20;
        const failed = (async () => {
          // The test kills the server during these appends.
          for (;;) {
            await store.append(lease, newest, [said(newest + 1, `entry ${newest + 1}`)]);
            newest += 1;
            if (newest === target) process.kill(server.pid, "SIGKILL");
          }
        })();
        await expect(failed).rejects.toMatchObject({ name: "StorageError", kind: "unreachable" });
        await server.stop();
        server = await startRedis(own);
        const journal = await eventually(() => store.read("thread"));
        expect(journal.length - 1).toBeGreaterThanOrEqual(newest);
        expect(journal).toEqual(journal.map((_, seq) => said(seq, `entry ${seq}`)));
        newest = journal.length - 1;
      }
      await store.append(lease, newest, [said(newest + 1, "after all that")]);
      await store.close();
    });
  });
});

/** Long enough to unpack the server. */
const startingMsMax = 60_000;

const clusterAt = (url: string) => {
  const cluster = createCluster({ rootNodes: [{ url }] });
  cluster.on("error", () => {});
  return cluster;
};

/** Makes one server a whole cluster. */
const takeAllSlots = async (url: string): Promise<void> => {
  const client = createClient({ url });
  await client.connect();
  await client.clusterAddSlotsRange({ start: 0, end: 16383 });
  while (!(await client.clusterInfo()).includes("cluster_state:ok"));
  client.destroy();
};

/** Retries an operation until its store has noticed that the server is back, and returns its value. */
const eventually = async <A>(operation: () => Promise<A>): Promise<A> => {
  for (let attempts = 0; ; attempts += 1) {
    try {
      return await operation();
    } catch (error) {
      if (attempts === 20) throw error;
    }
  }
};
