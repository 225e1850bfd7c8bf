import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { inChromium, insecureHost } from "./in-chromium.ts";

inChromium("in a Chromium", "page.ts", ({ site, profile, tab }) => {
  const takes = (page: Page, ttlMs = 600_000): Promise<boolean> =>
    page.evaluate(async (ttl) => {
      globalThis.store ??= colloquy.indexedDbStore({ name: "d" });
      return (await store.acquire("t", "two", ttl)) !== null;
    }, ttlMs);

  test("a tab that goes to another page leaves its threads at once", async () => {
    const context = await profile();
    const [page, other] = [await tab(context), await tab(context)];
    await page.evaluate(() => begin());
    expect(await takes(other)).toBe(false);
    await page.goto("about:blank");
    await expect.poll(() => takes(other)).toBe(true);
    await context.close();
  });

  test("a tab that the browser froze keeps its thread for the time of its lease, and no longer", async () => {
    const context = await profile();
    const [page, other] = [await tab(context), await tab(context)];
    const ttlMs = 2_000;
    await page.evaluate((ttl) => begin(ttl), ttlMs);
    const session = await context.newCDPSession(page);
    await session.send("Page.setWebLifecycleState", { state: "frozen" });
    await expect.poll(() => takes(other)).toBe(true);
    await session.send("Page.setWebLifecycleState", { state: "active" });
    const late = await page.evaluate(() => Promise.resolve(store.append(lease, 1, [entry(2)])).catch(String));
    expect(late).toMatch(/^LeaseLostError/);
    // The other tab's lock.
    expect(await page.evaluate(() => locksHeld())).toBe(1);
    await context.close();
  });

  test("a page of an insecure context has no locks, and its leases end by time", async () => {
    const context = await profile();
    const page = await tab(context, `http://${insecureHost}:${site().port}/`);
    await page.evaluate(() => begin());
    expect(await page.evaluate(() => [isSecureContext, store.leaseTtlMs ?? null, lease.token])).toEqual([
      false,
      null,
      1,
    ]);
    await context.close();
  });

  test("a frame without storage gets an error", async () => {
    const context = await profile();
    const page = await tab(context);
    await page.evaluate(() => {
      const frame = document.createElement("iframe");
      frame.sandbox.add("allow-scripts");
      frame.srcdoc = '<script type="module" src="/script.js"></script>';
      document.body.append(frame);
    });
    await expect.poll(() => page.frames()[1]?.evaluate(() => "colloquy" in globalThis)).toBe(true);
    const said = await page.frames()[1]?.evaluate(() => colloquy.indexedDbStore().list().catch(String));
    expect(said).toMatch(
      /^StorageError: the database "colloquy" of IndexedDB: the browser allows this page no database/,
    );
    await context.close();
  });

  /** Returns a worker's script: a host that answers on a port, and reports how many locks are held. */
  const answering = (): string => `
    import ${JSON.stringify(`${site().url}script.js`)};
    globalThis.answer = async (port) => {
      const llm = async () => ({ type: "completed", reply: { content: "From a worker." }, finishReason: "stop" });
      const host = colloquy.createHost({ llm, store: colloquy.indexedDbStore({ name: "d" }) });
      const { text } = await host.ask("Hello?", { threadId: "t" });
      port.postMessage([text, await locksHeld()]);
    };`;

  test("a host works in a worker, and a terminated worker leaves its threads at once", async () => {
    const context = await profile();
    const page = await tab(context);
    const answered = await page.evaluate((source) => {
      const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      const worker = new Worker(url, { type: "module" });
      return new Promise((resolve) =>
        worker.addEventListener("message", ({ data }) => {
          worker.terminate();
          resolve(data);
        }),
      );
    }, `${answering()} answer(globalThis);`);
    expect(answered).toEqual(["From a worker.", 1]);
    await expect.poll(() => takes(page)).toBe(true);
    await context.close();
  });

  test("a host works in a worker that tabs share", async () => {
    const context = await profile();
    const page = await tab(context);
    const answered = await page.evaluate((source) => {
      const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      const { port } = new SharedWorker(url, { type: "module" });
      port.start();
      return new Promise((resolve) => port.addEventListener("message", ({ data }) => resolve(data)));
    }, `${answering()} addEventListener("connect", ({ ports: [port] }) => answer(port));`);
    expect(answered).toEqual(["From a worker.", 1]);
    await context.close();
  });
});
