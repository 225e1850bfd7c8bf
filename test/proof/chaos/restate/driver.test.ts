import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { text } from "node:stream/consumers";

import { describe, expect, test } from "vitest";

import { startBalancer } from "../../../../proof/chaos/restate/fleet.ts";
import { planOf } from "../../../../proof/chaos/restate/run.ts";
import { randomOf } from "../../../../proof/kit/random.ts";

describe("the plan of what is killed", () => {
  const wanted = { kills: 20, serverKills: 5, runs: 100, slackMs: 15 };

  test("follows from the seed, and all of it comes while something still runs", () => {
    const plan = planOf(randomOf(7), wanted);
    expect(planOf(randomOf(7), wanted)).toEqual(plan);
    expect(planOf(randomOf(8), wanted)).not.toEqual(plan);
    expect(plan.filter(({ what }) => what === "server")).toHaveLength(5);
    expect(plan.filter(({ what }) => what === "worker")).toHaveLength(20);
    const moments = plan.map(({ atRun }) => atRun);
    expect(moments).toEqual(moments.toSorted((one, other) => one - other));
    expect(moments.every((moment) => moment >= 1 && moment <= 90)).toBe(true);
  });
});

describe("the balancer before workers", () => {
  /** Starts a worker that sends its name. */
  const startWorker = async (name: string): Promise<{ readonly port: number; readonly server: Server }> => {
    const server = createServer((socket) => void socket.end(name)).listen(0, "127.0.0.1");
    await once(server, "listening");
    return { port: (server.address() as AddressInfo).port, server };
  };

  test("gives each worker its turn, leaves out one that is gone, and closes where there is none", async () => {
    const workers = await Promise.all(["a", "b"].map(startWorker));
    const balancer = await startBalancer(2);
    const met = (): Promise<string> => text(connect(balancer.port, "127.0.0.1"));
    expect(await met()).toBe("");
    for (const [place, { port }] of workers.entries()) balancer.set(place, port);
    expect([await met(), await met(), await met()].toSorted().join("")).toMatch(/^(aab|abb)$/);
    balancer.set(0, null);
    expect([await met(), await met()]).toEqual(["b", "b"]);
    await balancer.close();
    for (const { server } of workers) server.close();
  });
});
