import { createHost, memoryStore, type Store, systemClock } from "@colloquy/runtime-node";
import { scriptedModel } from "@colloquy/runtime-test/models";
import { expect, test, vi } from "vitest";
import { threadServer } from "../../src/index.ts";
import { studioRoutes } from "../../src/studio/index.ts";
import { at, errorOf } from "../serving.ts";

const served = async (store: Store = memoryStore()) => {
  const host = createHost({ llm: scriptedModel([]), store });
  const configurations = [{ name: "now", host }] as const;
  const options = { store, clock: systemClock, configurations, about: "" };
  return { host, store, server: threadServer(host, {}, await studioRoutes(options)) };
};

test("the studio serves its page, script, style and icon, each with its type, and nothing from elsewhere", async () => {
  const { server } = await served();
  for (const [path, type, text] of [
    ["/studio", "text/html", '<script type="module" src="/studio/page.js">'],
    ["/studio/page.js", "text/javascript", "studio/api"],
    ["/studio/page.css", "text/css", "{"],
    ["/studio/icon.svg", "image/svg+xml", "<svg"],
  ] as const) {
    const response = await server.fetch(at(path));
    expect(response.headers.get("content-type")?.split(";")[0]).toBe(type);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'self'");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(await response.text()).toContain(text);
  }
  const root = await server.fetch(at("/"));
  expect([root.status, root.headers.get("location")]).toEqual([303, "/studio"]);
});

test.each([
  ["trip 7/Oslo", "trip-7-Oslo.jsonl"],
  ["é", "-.jsonl"],
  ["x".repeat(81), `${"x".repeat(80)}.jsonl`],
])("the studio exports the thread %j as a file that any system can store: %s", async (threadId, name) => {
  const { host, server } = await served();
  await host.thread(threadId).start();
  const response = await server.fetch(at(`/studio/api/export?thread=${encodeURIComponent(threadId)}`));
  expect(response.headers.get("content-disposition")).toBe(`attachment; filename="${name}"`);
});

test("the studio promises no more threads or finds than there are, if they just fill a page", async () => {
  const { host, server } = await served();
  for (let index = 0; index < 100; index++)
    await host.thread(`t${index}`).start({ system: index < 50 ? "A word." : "Nothing." });
  const answer = async (path: string): Promise<unknown> => (await server.fetch(at(`/studio/api/${path}`))).json();
  expect(await answer("threads")).toMatchObject({ threads: { length: 100 }, next: null });
  expect(await answer("search?words=word")).toMatchObject({ hits: { length: 50 }, hasMore: false });
  await host.thread("t100").start({ system: "A word." });
  expect(await answer("threads")).toMatchObject({ threads: { length: 100 }, next: expect.any(String) });
  expect(await answer("search?words=word")).toMatchObject({ hits: { length: 50 }, hasMore: true });
});

test("the studio says that a store can't be searched", async () => {
  const { server } = await served(Object.defineProperty(memoryStore(), "search", { value: undefined }));
  const response = await server.fetch(at("/studio/api/search?words=word"));
  expect(await errorOf(response)).toMatchObject({ status: 501, message: expect.stringContaining("can't be searched") });
  expect(await (await server.fetch(at("/studio/api/setup"))).json()).toMatchObject({ searches: false });
});

test("the studio tells nobody but its operator why its store can't list threads", async () => {
  const { server, store } = await served();
  vi.spyOn(store, "list").mockRejectedValue(new Error("the disk is gone"));
  const { status, message } = await errorOf(await server.fetch(at("/studio/api/threads")));
  expect([status, message]).toEqual([500, expect.not.stringContaining("disk")]);
});
