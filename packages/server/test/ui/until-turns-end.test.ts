import { type AskHandle, EventRefusedError, type HostedThread } from "@colloquy/host";
import { virtualClock } from "@colloquy/runtime-test";
import { never, reply, toolCalls } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { type ThreadServer, threadServer } from "../../src/index.ts";
import { resume, stop } from "../../src/ui/chat.ts";
import { untilTurnsEnd } from "../../src/ui/ask-of-page.ts";
import { post } from "../serving.ts";
import { WaitingPages } from "../../src/ui/waiting-pages.ts";
import { painted, seat, stage } from "./page.ts";

const asking = async () => {
  const { host } = stage([never(), reply("Three.")]);
  const thread = host.thread("t");
  const [one, two, three] = ["one", "two", "three"].map((askId) =>
    thread.ask(askId, { askId, overlap: "queue" }),
  ) as unknown as readonly [AskHandle, AskHandle, AskHandle]; // as many as there are ids
  two.catch(() => {});
  one.catch(() => {});
  await expect
    .poll(async () => (await thread.asks()).map(({ status }) => status))
    .toEqual(["open", "queued", "queued"]);
  return { host, thread, one, two, three };
};

test("a page's message waits no longer for asks that were withdrawn or cancelled", async () => {
  const { host, thread, three } = await asking();
  const { signal } = new AbortController();
  const waits = [untilTurnsEnd(thread, signal, "three"), untilTurnsEnd(thread, signal)];
  await thread.cancel("never mind", "two");
  await thread.cancel("never mind", "one");
  await Promise.all(waits);
  expect((await three).text).toBe("Three.");
  await host.close();
});

test("a page learns that the asks before its message can't be followed", async () => {
  const { host, thread } = await asking();
  async function* failing(): AsyncGenerator<never, void> {
    yield* [];
    throw new Error("the store failed");
  }
  // Cast: only these members are used.
  const broken = { look: thread.look.bind(thread), rejoin: failing } as unknown as HostedThread;
  const { signal } = new AbortController();
  await expect(untilTurnsEnd(broken, signal, "two")).rejects.toThrow("the store failed");
  await untilTurnsEnd(broken, signal, "one");
  await untilTurnsEnd(broken, signal, "no such ask");
  await host.close();
});

test("a page's message waits no longer once its turn has started, which also answers an ask before it", async () => {
  const { host } = stage([never(), never()], { machine: { overlap: { type: "merge", max: 8 } } });
  const thread = host.thread("t");
  for (const askId of ["one", "two", "three"]) thread.ask(askId, { askId }).catch(() => {});
  const statuses = async () => (await thread.asks()).map(({ status }) => status);
  await expect.poll(statuses).toEqual(["open", "queued", "queued"]);
  const waits = untilTurnsEnd(thread, new AbortController().signal, "three");
  await thread.cancel("never mind", "one");
  await waits;
  expect(await statuses()).toEqual(["cancelled", "open", "open"]);
  await thread.cancel("enough");
  await host.close();
});

test("a message that is about to join the open turn is asked once, even if its page sends it again", async () => {
  const { host } = stage([never(), never()], { machine: { overlap: { type: "steer", max: 8 } } });
  const server = threadServer(host);
  const send = async (id: string): Promise<void> => {
    const messages = [{ id, role: "user", parts: [{ type: "text", text: id }] }];
    await (await server.fetch(post("/ui", { id: "t", messages }))).body?.cancel();
  };
  const statuses = async () => (await host.thread("t").asks()).map(({ status }) => status);
  await send("one");
  await expect.poll(statuses).toEqual(["open"]);
  for (let times = 1; times <= 2; times++) {
    await send("two");
    await expect.poll(statuses).toEqual(["open", "joining"]);
  }
  await send("three");
  await expect.poll(statuses).toEqual(["open", "joining", "joining"]);
  const texts = await host.thread("t").look(({ context }) => context.open?.joining.map(({ input }) => input) ?? []);
  expect(texts).toMatchObject([[{ content: "two" }], [{ content: "three" }]]);
  await host.thread("t").cancel("enough");
  await host.close();
});

test("a page that stops a turn learns whether it was still open", async () => {
  const { host } = stage([never()]);
  const refused = new EventRefusedError("t", { kind: "stale", reason: "it has ended" });
  const stopping = (cancel: (reason: string, askId: string) => Promise<void>, ...statuses: readonly string[]) => {
    const asks = async () => statuses.map((status, index) => ({ askId: `${index}`, status }));
    // Cast: only these members are used.
    return stop({ asks, cancel } as unknown as HostedThread);
  };
  const failing = (error: Error) => async (): Promise<never> => {
    throw error;
  };
  expect(await stopping(async () => {}, "completed", "open")).toBe(true);
  expect(await stopping(async () => {}, "completed", "queued")).toBe(false);
  expect(await stopping(failing(refused), "open")).toBe(false);
  expect(
    await stopping((_, askId) => (askId === "0" ? Promise.resolve() : Promise.reject(refused)), "open", "open"),
  ).toBe(true);
  await expect(stopping(failing(new Error("the store failed")), "open")).rejects.toThrow("the store failed");
  await host.close();
});

test("a turn is cancelled whose client has left before its stream is resumed", async () => {
  const { host } = stage([never()]);
  const thread = host.thread("t");
  const ask = thread.ask("Hi");
  for await (const part of ask) if (part.type === "turn.started") break;
  expect(await resume(thread, { gone: AbortSignal.abort(), waiting: new WaitingPages() })).not.toBeNull();
  await expect(ask).rejects.toThrow("the user stopped it, or left");
  expect(await resume(thread, { gone: AbortSignal.abort(), waiting: new WaitingPages() })).toBeNull();
  await host.close();
});

test("a message whose page leaves while it waits for another turn is never asked", async () => {
  const { host } = stage([reply("A."), never(), reply("C.")]);
  const server = threadServer(host, { ui: { onDisconnect: "cancel" } });
  const thread = host.thread("t");
  const user = (id: string) => ({ id, role: "user", parts: [{ type: "text", text: id }] });
  const send = (messages: readonly object[]) => server.fetch(post("/ui", { id: "t", messages }));
  await (await send([user("one")])).text();
  const shown = await painted(server);
  thread.ask("elsewhere").catch(() => {});
  const asked = async () => (await thread.asks()).map(({ status }) => status);
  await expect.poll(asked).toEqual(["completed", "open"]);
  const reader = (await send([...shown, user("two")])).body?.getReader();
  const reading = reader?.read();
  await reader?.cancel();
  await reading;
  await thread.cancel("enough");
  await expect.poll(asked).toEqual(["completed", "cancelled"]);
  await (await send([...(await painted(server)), user("three")])).text();
  expect(await asked()).toEqual(["completed", "cancelled", "completed"]);
  await host.close();
});

test("a message that waits and is sent again is not kept waiting by a turn that comes to need an answer of the page", async () => {
  const clock = virtualClock();
  const asks = toolCalls([{ name: "seat", arguments: {} }], { delayMs: 1000 });
  const { host, another } = stage([asks, reply("As you like.")], { clock });
  const other = another();
  const ui = { tools: [seat] };
  const [here, there] = [threadServer(host, { ui }), threadServer(other.host, { ui })];
  const send = (server: ThreadServer, id: string) => {
    const messages = [{ id, role: "user", parts: [{ type: "text", text: id }] }];
    return server.fetch(post("/ui", { id: "t", messages }));
  };
  const asked = async () => (await host.thread("t").asks()).map(({ status }) => status);
  await (await send(here, "one")).body?.cancel();
  await expect.poll(asked).toEqual(["open"]);
  await (await send(here, "two")).body?.cancel();
  await expect.poll(asked).toEqual(["open", "queued"]);
  const answer = (await send(there, "two")).text();
  for (let rounds = 0; rounds < 40 && (await asked())[1] !== "completed"; rounds++) await clock.advance(100);
  expect(await answer).toContain("As you like.");
  expect(await asked()).toEqual(["cancelled", "completed"]);
  await Promise.all([host.close(), other.host.close()]);
});
