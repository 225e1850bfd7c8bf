import { expect, test } from "vitest";
import { inFolder } from "../../../../proof/kit/folder.ts";
import { inChromium } from "./in-chromium.ts";

inChromium("in a Chromium", "page.ts", ({ site, profile, profileIn, tab }) => {
  test("a site without room loses nothing, and the error names a remedy that works", () =>
    inFolder("quota", async (folder) => {
      const context = await profileIn(folder);
      const page = await tab(context);
      const session = await context.newCDPSession(page);
      // Before the first write, as Chromium caches the quota for half a minute.
      await session.send("Storage.overrideQuotaForOrigin", { origin: site().url, quotaSize: 3_000_000 });
      await page.evaluate(() => begin());
      const { error, acknowledged, listed, read } = await page.evaluate(async () => {
        let acknowledged = 1;
        const fill = async (size: number): Promise<Error> => {
          for (;;)
            try {
              const random = Array.from(crypto.getRandomValues(new Uint8Array(size)), (byte) => byte.toString(36));
              const long = { ...entry(acknowledged + 1), more: random.join("") };
              await store.append(lease, acknowledged, [long, entry(acknowledged + 2)]);
              acknowledged += 2;
            } catch (error) {
              return Object(error) as Error;
            }
        };
        for (const size of [50_000, 10_000, 1_000]) await fill(size);
        // Fills the rest of the disk, so that a lease finds no room either.
        const { name, message } = await fill(10);
        const listed = (await store.list()).threads.map(({ seq }) => seq);
        return { error: `${name}: ${message}`, acknowledged, listed, read: (await store.read("t")).length };
      });
      expect([listed, read]).toEqual([[acknowledged], acknowledged + 1]);
      expect(error).toBe(
        'StorageError: the database "d" of IndexedDB: the browser grants this site no more room; delete threads ' +
          "(the store's own `delete` needs no room for a lease) (QuotaExceededError).",
      );
      expect(await page.evaluate(() => store.delete("t"))).toBe(true);
      expect(await page.evaluate(() => begin().then(() => true, String))).toBe(true);
      await context.close();
    }));

  test("acknowledged writes survive a crash of the browser, whose leases are free at once", () =>
    inFolder("killed", async (folder) => {
      const killed = await profileIn(folder);
      const page = await tab(killed);
      await page.evaluate(() => begin());
      const closed = new Promise((resolve) => void killed.once("close", resolve));
      const session = await killed.newCDPSession(page);
      // A crashed browser sends no answer.
      session.send("Browser.crash").catch(() => undefined);
      await closed;
      const next = await profileIn(folder);
      const tabOfNext = await tab(next);
      const found = await tabOfNext.evaluate(async () => {
        const store = colloquy.indexedDbStore({ name: "d" });
        return { read: (await store.read("t")).length, lease: await store.acquire("t", "two", 1_000) };
      });
      expect(found).toEqual({ read: 2, lease: { threadId: "t", owner: "two", token: 2 } });
      await next.close();
    }));

  test("a tab deletes the database while another one writes: it is gone at once, and the writer has no lease any more", async () => {
    const context = await profile();
    const [page, other] = [await tab(context), await tab(context)];
    await page.evaluate(() => begin());
    const writing = page.evaluate(async () => {
      for (let seq = 1; ; seq += 1)
        try {
          await store.append(lease, seq, [entry(seq + 1)]);
        } catch (error) {
          return [String(error), (await store.read("t")).length, await locksHeld()] as const;
        }
    });
    const events = await other.evaluate(
      () =>
        new Promise((resolve) => {
          const request = indexedDB.deleteDatabase("d");
          request.addEventListener("blocked", () => resolve("blocked"));
          request.addEventListener("success", () => resolve("deleted"));
        }),
    );
    expect(events).toBe("deleted");
    expect(await writing).toEqual([expect.stringMatching(/^LeaseLostError: .* is no longer in force/), 0, 0]);
    await context.close();
  });

  test("the browser clears the site's data: a call under way reports it, and the tab continues with an empty database", async () => {
    const context = await profile();
    const page = await tab(context);
    await page.evaluate(() => begin());
    const writing = page.evaluate(async () => {
      const errors: unknown[] = [];
      for (let seq = 1; errors.length === 0 || !String(errors.at(-1)).startsWith("LeaseLostError");)
        try {
          await store.append(lease, seq, [entry(seq + 1)]);
          seq += 1;
        } catch (error) {
          errors.push(String(error));
        }
      await begin();
      return { errors: errors.slice(0, -1), read: (await store.read("t")).length };
    });
    const session = await context.newCDPSession(page);
    await session.send("Storage.clearDataForOrigin", { origin: site().url, storageTypes: "indexeddb" });
    const { errors, read } = await writing;
    for (const error of errors) expect(error).toMatch(/^StorageError: .* failed, or was cleared; try again/);
    expect(read).toBe(2);
    await context.close();
  });

  test("a tab with a later version of the page gets the database at once, and the others say what to do", async () => {
    const context = await profile();
    const [page, later] = [await tab(context), await tab(context)];
    await page.evaluate(() => begin());
    const events = await later.evaluate(
      () =>
        new Promise((resolve) => {
          const request = indexedDB.open("d", 2);
          request.addEventListener("blocked", () => resolve("blocked"));
          request.addEventListener("success", () => resolve("opened"));
        }),
    );
    expect(events).toBe("opened");
    const said = await page.evaluate(async () => {
      const said = [String(await store.read("t").catch(String)), String(await store.release(lease).catch(String))];
      return { said, held: await locksHeld() };
    });
    for (const words of said.said)
      expect(words).toMatch(/later version of this page wrote the database; load the page again/);
    expect(said.held).toBe(0);
    await context.close();
  });
});
