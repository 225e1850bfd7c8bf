import type { Clock, LlmHandler } from "@colloquy/host";
import { compactTurns } from "@colloquy/machine/policies";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { runningClock, virtualClock } from "@colloquy/runtime-test";
import { fails, reply, type ScriptLine, scriptedModel } from "@colloquy/runtime-test/models";
import { expect, onTestFinished, test } from "vitest";
import { threadServer, type ThreadServer } from "../../src/index.ts";
import { studioRoutes } from "../../src/studio/index.ts";
import type { StudioOptions } from "../../src/studio/index.ts";
import type { DifferenceView, PromptView } from "../../src/studio/wire/wire.ts";
import { at, errorOf } from "../serving.ts";

const served = async (
  script: readonly ScriptLine[] | LlmHandler,
  options: Partial<StudioOptions> = {},
  clock: Clock = runningClock(),
) => {
  const store = memoryStore({ clock });
  const machine = { retry: { attempts: 2, baseDelayMs: 0, maxDelayMs: 0 } };
  const host = createHost({
    llm: typeof script === "function" ? script : scriptedModel(script),
    store,
    clock,
    machine,
  });
  onTestFinished(() => host.close());
  const configurations = [{ name: "now", host }] as const;
  const routes = await studioRoutes({ store, clock, configurations, about: "", ...options });
  return { host, server: threadServer(host, { mayUse: (_, threadId) => threadId !== "secret" }, routes) };
};

/** Returns an answer, whose type the routes promise. */
const asked = async <Answer>(server: ThreadServer, path: string): Promise<Answer> =>
  (await server.fetch(at(`/studio/api/${path}`))).json();

test("the studio shows the input tokens that the provider reported for each attempt of a call, if it reported any", async () => {
  const { host, server } = await served([
    fails({ kind: "overloaded", message: "busy" }, { usage: { inputTokens: 10, outputTokens: 0 } }),
    reply("Hi.", { usage: { inputTokens: 12, outputTokens: 2 } }),
    reply("And?"),
  ]);
  const thread = host.thread("t");
  await thread.ask("Hello?");
  await thread.ask("How are you?");
  const types = (await thread.exportJournal()).map(({ event }) => event.type);
  const answers = types.flatMap((type, seq) => (type === "llm.failed" || type === "llm.completed" ? [seq] : []));
  const reported = answers.map(async (seq) => {
    const { call } = await asked<PromptView>(server, `prompt?thread=t&seq=${seq - 1}`);
    return [call.turn, call.attempt, call.reported];
  });
  expect(await Promise.all(reported)).toEqual([
    [1, 1, 10],
    [1, 2, 12],
    [2, 1, null],
  ]);
});

test.each([
  [98, 7],
  [99, null],
])(
  "the studio looks for the tokens of a call among the next 99 entries: after %i others, it shows %j",
  async (others, reported) => {
    const asking = Promise.withResolvers<void>();
    const answering = Promise.withResolvers<void>();
    const llm: LlmHandler = async () => {
      asking.resolve();
      await answering.promise;
      return { type: "completed", reply: { content: "Hi." }, finishReason: "stop", usage: { inputTokens: 7 } };
    };
    const { host, server } = await served(llm);
    const ask = host.ask("Hello?", { threadId: "t" });
    await asking.promise;
    for (let count = 1; count <= others; count++) await host.thread("t").setMetadata({ count });
    answering.resolve();
    await ask;
    expect((await asked<PromptView>(server, "prompt?thread=t&seq=1")).call.reported).toBe(reported);
  },
);

test("the studio says that no call came before the first one to compare it with", async () => {
  const { host, server } = await served([reply("Hi.")]);
  await host.thread("t").ask("Hello?");
  expect(await errorOf(await server.fetch(at("/studio/api/prompt-change?thread=t&seq=1")))).toMatchObject({
    status: 404,
    message: "no other model call came before",
    code: "no_call",
  });
});

test("the studio shows where two conversations begin to differ, and no difference where there is none", async () => {
  const { host, server } = await served([reply("Hi."), reply("Fine.")]);
  const thread = host.thread("t");
  await thread.ask("Hello?");
  await thread.ask("How are you?");
  const last = (await thread.exportJournal()).length - 1;
  const between = async (seq: number, other: number): Promise<readonly number[]> => {
    const path = `difference?thread=t&seq=${seq}&other=t&otherSeq=${other}`;
    const { alike, left, right } = await asked<DifferenceView>(server, path);
    return [alike, left.length, right.length];
  };
  expect(await between(last, last)).toEqual([4, 0, 0]);
  expect(await between(2, last)).toEqual([2, 0, 2]);
  expect(await between(last, 2)).toEqual([2, 2, 0]);
  expect(await between(0, last)).toEqual([0, 0, 4]);
});

test.each<readonly [Partial<StudioOptions>, number]>([
  [{}, 500],
  [{ everyMs: 50 }, 50],
])(
  "the studio with the options %j tells its page of changed threads every %i ms, and of none that its user may not see",
  async (options, everyMs) => {
    const clock = virtualClock();
    const { host, server } = await served([], options, clock);
    const leaving = new AbortController();
    const { body } = await server.fetch(at("/studio/api/events", { signal: leaving.signal }));
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    const told: string[] = [];
    const reading = (async () => {
      for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read())
        told.push(piece.value);
    })();
    await clock.advance(0);
    await host.thread("secret").start();
    await clock.advance(everyMs);
    expect(told.join("")).not.toContain("event: threads");
    await host.thread("t").start();
    await clock.advance(everyMs - 1);
    expect(told.join("")).not.toContain("event: threads");
    await clock.advance(1);
    await expect.poll(() => told.join("")).toContain('event: threads\ndata: [{"threadId":"t"');
    leaving.abort();
    await reading.catch(() => {});
    expect(told.join("").split("event: threads")).toHaveLength(2);
    expect(told.join("")).not.toContain("secret");
  },
);

test("the studio explains the call for an answer, with its own tokens, while a summary is made beside it", async () => {
  const clock = virtualClock();
  const store = memoryStore({ clock });
  const summarised = Promise.withResolvers<void>();
  const llm: LlmHandler = async ({ purpose, turn }) => {
    if (purpose === "summary") {
      summarised.resolve();
      return {
        type: "completed",
        reply: { content: "They greeted." },
        finishReason: "stop",
        usage: { inputTokens: 5 },
      };
    }
    if (turn === 4) await summarised.promise.then(() => new Promise(setImmediate));
    const reply = { content: "Hello, ".repeat(30) };
    return { type: "completed", reply, finishReason: "stop", usage: { inputTokens: 100 + turn } };
  };
  const machine = { policy: compactTurns(), budget: { tokens: 400, reserve: 100 } };
  const host = createHost({ llm, store, clock, machine });
  onTestFinished(() => host.close());
  const routes = await studioRoutes({ store, clock, configurations: [{ name: "now", host }], about: "" });
  const server = threadServer(host, {}, routes);
  for (let turn = 0; turn < 4; turn++) await host.ask("Hello? ".repeat(20), { threadId: "t" });
  const events = (await host.thread("t").exportJournal()).map(({ event }) => event);
  const summary = events.findIndex((event) => "effectId" in event && event.effectId.includes("summary"));
  expect(events.slice(summary - 1, summary + 2)).toMatchObject([
    { type: "ask.received" },
    { type: "llm.completed", usage: { inputTokens: 5 } },
    { type: "llm.completed", usage: { inputTokens: 104 } },
  ]);
  const { call } = await asked<PromptView>(server, `prompt?thread=t&seq=${summary - 1}`);
  expect(call).toMatchObject({ turn: 4, step: 1, attempt: 1, reported: 104 });
});

test("the studio explains a call of a host that it does not know by its first configuration", async () => {
  const clock = runningClock();
  const store = memoryStore({ clock });
  const hosts = [700, 800, 900].map((tokens) =>
    createHost({ llm: scriptedModel([reply("Hi.")]), store, clock, machine: { budget: { tokens, reserve: 0 } } }),
  );
  const [unknown, first, second] = hosts;
  if (unknown === undefined || first === undefined || second === undefined) throw new Error("a host is missing");
  onTestFinished(async () => void (await Promise.all(hosts.map((host) => host.close()))));
  const configurations = [
    { name: "first", host: first },
    { name: "second", host: second },
  ] as const;
  const server = threadServer(first, {}, await studioRoutes({ store, clock, configurations, about: "" }));
  await unknown.ask("Hello?", { threadId: "t" });
  const { budget, configured } = await asked<PromptView>(server, "prompt?thread=t&seq=1");
  expect([budget?.tokens, configured]).toEqual([800, false]);
});
