import type { LlmHandler } from "@colloquy/host";
import { createHost, memoryStore, type Store } from "@colloquy/runtime-node";
import { virtualClock } from "@colloquy/runtime-test";
import { never, reply, scriptedModel } from "@colloquy/runtime-test/models";
import { expect, test, vi } from "vitest";
import { threadServer } from "../src/index.ts";
import { respondingOf } from "./responses/responding.ts";
import { serving } from "./serving.ts";

const takeOverMs = 30_000;

/** A store as one process sees it, until the process dies: then no call is done, or answered. */
const mortal = (inner: Store): { readonly store: Store; readonly die: () => void } => {
  let isDead = false;
  const seenThrough = <Whole extends object>(whole: Whole): Whole =>
    new Proxy(whole, {
      get: (_, name): unknown => {
        const member: unknown = Reflect.get(whole, name);
        if (typeof member === "object" && member !== null) return seenThrough(member);
        if (typeof member !== "function") return member;
        return (...given: unknown[]): unknown => (isDead ? new Promise(() => {}) : Reflect.apply(member, whole, given));
      },
    });
  return { store: seenThrough(inner), die: () => (isDead = true) };
};

const twoServers = (second: LlmHandler, options = {}) => {
  const clock = virtualClock();
  const store = memoryStore({ clock });
  const first = mortal(store);
  const llm = scriptedModel([never()]);
  // Of a dead process nobody reads what its host says.
  const dying = createHost({ llm, store: first.store, clock, onObserverError: () => {} });
  const host = createHost({ llm: second, store, clock });
  const server = threadServer(host, { clock, takeOverMs, ...options });
  const { client } = respondingOf(dying, { clock });
  return { clock, store, server, die: first.die, client };
};

test("a background response of a killed server ends on another one that nobody asks for it", async () => {
  const { clock, store, client, die } = twoServers(scriptedModel([reply("Here I am.")]));
  // Rounds have passed before the thread is there, and while its server is alive.
  await clock.advance(2 * takeOverMs + 10_000);
  const { conversation } = await client.responses.create({ model: "any", input: "Go", background: true });
  await clock.advance(5 * takeOverMs);
  die();
  await clock.advance(2 * takeOverMs);
  const entries = await store.read(conversation?.id ?? "");
  expect(JSON.stringify(entries)).toContain("Here I am.");
});

test("a thread that its server has under way is left to it", async () => {
  const llm = scriptedModel([]);
  const { clock, client } = twoServers(llm);
  const { id } = await client.responses.create({ model: "any", input: "Go", background: true });
  await clock.advance(10 * takeOverMs);
  expect(llm.calls).toEqual([]);
  expect((await client.responses.retrieve(id)).status).toBe("in_progress");
});

test("a server that was closed takes nothing over", async () => {
  const llm = scriptedModel([]);
  const { clock, client, die, server } = twoServers(llm);
  await client.responses.create({ model: "any", input: "Go", background: true });
  const closed = server.close();
  die();
  await clock.advance(10 * takeOverMs);
  await closed;
  expect(llm.calls).toEqual([]);
});

test("a store that can't be listed is reported, and the next round takes the threads over", async () => {
  const reported: unknown[] = [];
  const onError = (error: unknown, id: string): void => void reported.push([String(error), id]);
  const { clock, store, client, die } = twoServers(scriptedModel([reply("Here I am.")]), { onError });
  const { conversation } = await client.responses.create({ model: "any", input: "Go", background: true });
  die();
  const listing = vi.spyOn(store, "list").mockRejectedValue(new Error("no connection"));
  await clock.advance(takeOverMs);
  listing.mockRestore();
  await clock.advance(takeOverMs);
  expect(reported).toEqual([["Error: no connection", "takeover"]]);
  expect(JSON.stringify(await store.read(conversation?.id ?? ""))).toContain("Here I am.");
});

test.each([0, -1, 1.5, Number.NaN])("takeOverMs: %d is refused", (given) => {
  expect(() => serving({ takeOverMs: given })).toThrow("takeOverMs");
});
