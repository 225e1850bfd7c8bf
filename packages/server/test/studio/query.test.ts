import { createHost, memoryStore } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { expect, test, vi } from "vitest";
import { type Call, threadServer } from "../../src/index.ts";
import { studioRoutes } from "../../src/studio/index.ts";
import { pageIn } from "../../src/studio/routes/query.ts";
import { errorOf } from "../serving.ts";

/** Serves a thread with one turn, whose stored entries can be changed. */
const served = async () => {
  const clock = virtualClock();
  const store = memoryStore({ clock });
  const llm = scriptedModel([reply("Hi.")]);
  const host = createHost({ llm, store, clock, ids: sequentialIds(), machine: conversationMachine() });
  await host.ask("Hello?", { threadId: "t" });
  const entries = await store.read("t");
  const read = vi.spyOn(store, "read");
  const reported: string[] = [];
  const configurations = [{ name: "now", host }] as const;
  const routes = await studioRoutes({ store, clock, configurations, about: "" });
  const server = threadServer(host, { onError: (error) => void reported.push(String(error)) }, routes);
  const look = () => server.fetch(new Request("http://localhost/studio/api/thread?thread=t"));
  return { entries, read, reported, look };
};

test.each<readonly [string, (entries: readonly unknown[]) => readonly unknown[], string]>([
  ["an entry is damaged", ([first, , ...rest]) => [first, { seq: 1, event: 7 }, ...rest], "entry 1"],
  ["its beginning is missing", (entries) => [entries[1]], "entry"],
  ["it begins twice", ([first]) => [first, { ...Object(first), seq: 1 }], "entry 1"],
])("the studio says that a thread can't be read, and where, if %s", async (_, changed, where) => {
  const { entries, read, reported, look } = await served();
  read.mockResolvedValue(changed(entries));
  const { status, message } = await errorOf(await look());
  expect([status, message]).toEqual([422, expect.stringContaining(`this thread can't be read: ${where}`)]);
  expect(reported).toEqual([]);
});

test("the studio tells the operator that its store fails, and does not say that a thread is unreadable", async () => {
  const { read, reported, look } = await served();
  read.mockRejectedValue(new Error("the disk is gone"));
  const { status, message } = await errorOf(await look());
  expect([status, message]).toEqual([500, expect.not.stringContaining("disk")]);
  expect(reported).toEqual([expect.stringContaining("the disk is gone")]);
});

test("the studio's answers are not cached, since threads change", async () => {
  const { look } = await served();
  expect((await look()).headers.get("cache-control")).toBe("no-store");
});

const items = Array.from({ length: 700 }, (_, index) => index);

test.each<readonly [string, "first" | "last", readonly [from: number, count: number]]>([
  ["", "first", [0, 100]],
  ["", "last", [600, 100]],
  ["limit=1000", "first", [0, 500]],
  ["limit=1000", "last", [200, 500]],
  ["limit=2", "last", [698, 2]],
  ["limit=0", "last", [700, 0]],
  ["from=0&limit=1", "last", [0, 1]],
  ["from=699&limit=2", "first", [699, 1]],
  ["from=999999999999999", "first", [999_999_999_999_999, 0]],
])("a page of a list with ?%s, by default its %s items, begins and ends where it is asked to", (query, part, page) => {
  // Cast: only the URL of a call is read.
  const call = { url: new URL(`http://localhost/?${query}`) } as Call;
  const { total, from, items: found } = pageIn(call, items, part);
  expect([total, from, found.length]).toEqual([700, ...page]);
  expect(found.every((item, index) => item === from + index)).toBe(true);
});

test("the last page of a list that is shorter than a page begins with its first item", () => {
  const call = { url: new URL("http://localhost/") } as Call; // only the URL is read
  expect(pageIn(call, [1, 2], "last")).toEqual({ total: 2, from: 0, items: [1, 2] });
});

test.each(["-1", "1.5", "1e3", "", " 1", "1000000000000000"])("a page is refused at the number %j", (from) => {
  const call = { url: new URL(`http://localhost/?from=${encodeURIComponent(from)}`) } as Call; // only the URL is read
  expect(() => pageIn(call, items)).toThrow(
    expect.objectContaining({ status: 400, param: "from", message: "from must be a whole number, 0 or more" }),
  );
});
