import { LeaseLostError, type StorageError } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import { type ManualClock, manualClock } from "@colloquy/runtime-test/contracts";
import { expect, test, type TestContext } from "vitest";

import { said, take } from "./journal.ts";
import { type Proxy, proxyTo } from "../../../../proof/kit/proxy.ts";

/** Opens a store at a URL. All stores of one run share their journals. */
export type OpenStore = (options: {
  readonly url: string;
  readonly clock: ManualClock;
  readonly timeoutMs: number;
}) => Store;

/**
 * Tests a store's promises during and after an outage of its server. The tests run at once, as they mostly wait.
 * `begin` returns the server, and a new empty store on it.
 */
export const outageTests = (begin: () => Promise<{ readonly url: string; readonly open: OpenStore }>): void => {
  const setUp = async ({
    onTestFinished,
  }: TestContext): Promise<{ proxy: Proxy; clock: ManualClock; far: Store; near: Store }> => {
    const { url, open } = await begin();
    const proxy = await proxyTo(url);
    const clock = manualClock();
    const far = open({ url: proxy.url, clock, timeoutMs });
    const near = open({ url, clock, timeoutMs: 30_000 });
    onTestFinished(async () => {
      for (const each of [near, far, proxy]) await each.close();
    });
    // The store with the long timeout creates the tables for the first call.
    await near.list();
    return { proxy, clock, far, near };
  };
  const unreachable = { name: "StorageError", kind: "unreachable" };

  test.concurrent("a server that is not there yet is told so, and is used when it comes", async (context) => {
    const { proxy, far } = await setUp(context);
    await proxy.shut();
    await expect(far.list()).rejects.toMatchObject(unreachable);
    await expect(far.acquire("thread", "owner", 1000)).rejects.toMatchObject(unreachable);
    await proxy.open();
    const lease = await until(() => take(far));
    await far.append(lease, -1, [said(0, "here")]);
  });

  test.concurrent("a network that is dead from the beginning is told so, and is used when it wakes", async (context) => {
    const { proxy, far } = await setUp(context);
    proxy.hold();
    await expect(far.list()).rejects.toMatchObject(unreachable);
    await expect(far.read("thread")).rejects.toThrow(/no answer within|does not answer/);
    await proxy.deliver();
    expect(await until(() => far.read("thread"))).toEqual([]);
  });

  test.concurrent("a server that is gone for a while is told so, and is used again when it is back, under the same lease", async (context) => {
    const { proxy, far } = await setUp(context);
    const lease = await take(far);
    await far.append(lease, -1, [said(0, "before")]);
    await proxy.shut();
    await expect(far.append(lease, 0, [said(1, "lost")])).rejects.toMatchObject(unreachable);
    await expect(far.read("thread")).rejects.toMatchObject(unreachable);
    await expect(far.renew(lease, 60_000)).rejects.toThrow(/its server does not answer|no answer within/);
    await proxy.open();
    expect(await until(() => far.renew(lease, 60_000))).toBe(true);
    await far.append(lease, 0, [said(1, "after")]);
    expect(await far.read("thread")).toEqual([said(0, "before"), said(1, "after")]);
  });

  test.concurrent("connections that break under many calls at once fail those calls, and no process", async (context) => {
    const { proxy, far } = await setUp(context);
    await far.append(await take(far), -1, [said(0, "before")]);
    const reading = Array.from({ length: 30 }, () => far.read("thread"));
    await proxy.shut();
    const outcomes = await Promise.all(reading.map((each) => each.catch((error: StorageError) => error.kind)));
    const others = outcomes.filter((outcome) => outcome !== "unreachable");
    // Some reads may have been quick enough.
    expect(others).toEqual(others.map(() => [said(0, "before")]));
    expect(others.length).toBeLessThan(reading.length);
    await proxy.open();
    expect(await until(() => far.read("thread"))).toEqual([said(0, "before")]);
  });

  test.concurrent("a holder whose connection hangs is told so, loses its lease, and what it sent arrives too late", async (context) => {
    const { proxy, clock, far, near } = await setUp(context);
    const hung = await take(far, "thread", "hung");
    await far.append(hung, -1, [said(0, "before")]);
    proxy.hold();
    await expect(far.append(hung, 0, [said(1, "by the hung one")])).rejects.toMatchObject(unreachable);
    clock.advance(60_000);
    const next = await take(near, "thread", "next");
    await proxy.deliver();
    expect(await near.read("thread")).toEqual([said(0, "before")]);
    await near.append(next, 0, [said(1, "by the next")]);
    await expect(until(() => far.append(hung, 0, [said(1, "by the hung one")]))).rejects.toBeInstanceOf(LeaseLostError);
    expect(await far.renew(hung, 60_000)).toBe(false);
    expect(await far.read("thread")).toEqual([said(0, "before"), said(1, "by the next")]);
  });

  test.concurrent("an append whose answer is lost is there for whoever acquires again, or never", async (context) => {
    const { proxy, far, near } = await setUp(context);
    const hung = await take(far);
    await far.append(hung, -1, [said(0, "before")]);
    proxy.hold();
    await expect(far.append(hung, 0, [said(1, "in time")])).rejects.toMatchObject(unreachable);
    await proxy.deliver();
    const again = await take(near);
    expect(await near.read("thread")).toEqual([said(0, "before"), said(1, "in time")]);

    expect(await until(() => far.read("thread"))).toHaveLength(2);
    proxy.hold();
    await expect(far.append(again, 1, [said(2, "too late")])).rejects.toMatchObject(unreachable);
    await take(near);
    await proxy.deliver();
    expect(await near.read("thread")).toHaveLength(2);
  });
};

/** Retries an operation until the store has noticed that the server is back. Returns its outcome. */
const until = async <A>(operation: () => A | Promise<A>): Promise<A> => {
  for (let attempts = 0; ; attempts += 1) {
    try {
      return await operation();
    } catch (error) {
      const away = error instanceof Error && "kind" in error && error.kind === "unreachable";
      if (!away || attempts === attemptsMax) throw error;
    }
  }
};

const attemptsMax = 20;

/** Long enough for a call on a busy machine. Hanging calls take as long. */
const timeoutMs = 5000;
