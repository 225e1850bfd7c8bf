import { noUsage, textOf, usageMonoid, type Usage } from "@colloquy/machine";
import { createHost, TurnCancelledError } from "@colloquy/runtime-node";
import { virtualClock } from "@colloquy/runtime-test";
import { expect, test } from "vitest";
import { hostOf, pair, passing, tokensOfCall } from "./agents.ts";

const said = async (asked: PromiseLike<{ readonly text: string }>): Promise<string> => (await asked).text;

test("a call of a subagent is an ask on a nested thread, which says where it comes from", async () => {
  const { host, store } = await hostOf(pair("parent"));
  expect(await said(host.ask("one", { threadId: "t" }))).toBe("one");
  const nested = await host.subagent("helper").thread("t/helper").state();
  expect(nested?.context.metadata).toEqual({
    parentThread: "t",
    parentCreatedAt: expect.any(Number) as number,
    parentTurn: 1,
    node: "helper",
  });
  expect(await host.subagent("helper").thread("t/helper").asked("1.1.0")).toMatchObject({
    turn: 1,
    status: "completed",
  });
  expect((await store.list()).threads.map(({ threadId }) => threadId).toSorted()).toEqual(["t", "t/helper"]);
  expect((await host.threads()).threads.map(({ threadId }) => threadId)).toEqual(["t"]);
});

test("a thread that was deleted says nothing to another one that took its id", async () => {
  const clock = virtualClock();
  const { host } = await hostOf(pair("parent"), { clock });
  await host.ask("one", { threadId: "t" });
  await host.thread("t").delete();
  await clock.advance(1);
  const refused = 'thread "t/helper" is of an earlier "t", which was deleted; delete it too';
  expect(await said(host.ask("one", { threadId: "t" }))).toBe(refused);
  await host.subagent("helper").thread("t/helper").delete();
  expect(await said(host.ask("two", { threadId: "t" }))).toBe("two");
});

test("a subagent remembers what its caller's path has of it", async () => {
  const { host } = await hostOf(pair("parent"));
  const thread = host.thread("t");
  expect(await said(thread.ask("a"))).toBe("a");
  expect(await said(thread.ask("b"))).toBe("a,b");
  await thread.checkpoint("two");
  await thread.undo();
  expect(await said(thread.ask("c"))).toBe("a,c");
  await thread.clear();
  expect(await said(thread.ask("d"))).toBe("d");
  await thread.restore("two");
  expect(await said(thread.ask("e"))).toBe("a,b,e");
  const { thread: fork } = await thread.fork({ turn: 2, threadId: "fork" });
  expect(await said(fork.ask("f"))).toBe("a,b,f");
  expect(await said(thread.ask("g"))).toBe("a,b,e,g");
  await fork.undo(2);
  expect(await said(fork.ask("h"))).toBe("a,h");
});

test("a fork of a fork finds what was said in the thread that both come from", async () => {
  const { host } = await hostOf(pair("parent"));
  const thread = host.thread("t");
  for (const word of ["a", "b", "c"]) await thread.ask(word);
  const { thread: fork } = await thread.fork({ turn: 2, threadId: "fork" });
  const { thread: second } = await fork.fork({ turn: 1, threadId: "second" });
  expect(await said(second.ask("d"))).toBe("a,d");
  // Its first call starts from the beginning, but keeps the inherited memory.
  await fork.clear();
  expect(await said(fork.ask("e"))).toBe("e");
  await fork.moveHead(2);
  expect(await said(fork.ask("f"))).toBe("a,b,f");
});

test("a fork at turn 10 has all messages up to that turn", async () => {
  const { host } = await hostOf(pair("parent"));
  const thread = host.thread("t");
  for (const word of "abcdefghijk") await thread.ask(word);
  const { thread: fork } = await thread.fork({ turn: 10, threadId: "fork" });
  expect(await said(fork.ask("z"))).toBe("a,b,c,d,e,f,g,h,i,j,z");
});

test("one of its own memory remembers all calls of the thread, one without none", async () => {
  const { host: own } = await hostOf(pair("own"));
  const { host: none } = await hostOf(pair("none"));
  for (const host of [own, none]) {
    await host.ask("a b", { threadId: "t" });
    await host.thread("t").clear();
  }
  expect(await said(own.ask("c", { threadId: "t" }))).toBe("a,b,c");
  expect(await said(none.ask("c", { threadId: "t" }))).toBe("c");
  const { thread: fork } = await own.thread("t").fork({ threadId: "fork" });
  expect(await said(fork.ask("d"))).toBe("d");
});

test("subagents have subagents, whose memory goes along, and their usage is seen", async () => {
  const files = {
    ...pair("parent"),
    "agent.yaml": "name: top\ninstructions: pass on to middle\ncompression: none\nsubagents: [./middle.yaml]",
    "middle.yaml": "name: middle\ninstructions: pass on to helper\ncompression: none\nsubagents: [./helper.yaml]",
  };
  const { host } = await hostOf(files);
  const thread = host.thread("t");
  await thread.ask("a");
  expect(await said(thread.ask("b"))).toBe("a,b");
  await thread.undo();
  expect(await said(thread.ask("c"))).toBe("a,c");
  const { thread: fork } = await thread.fork({ threadId: "fork" });
  expect(await said(fork.ask("d"))).toBe("a,c,d");
  const calls = await host.calls("t");
  expect(calls).toMatchObject(
    [1, 2, 3].map((turn) => ({
      name: "middle",
      callId: `${turn}.1.0`,
      threadId: "t/middle",
      turn,
      status: "completed",
      // Two own calls, and one of the helper.
      usage: { totalTokens: { sum: 3 * tokensOfCall } },
      calls: [{ name: "helper", threadId: "t/middle/helper", turn, calls: [] }],
    })),
  );
  const total = calls.reduce<Usage>((sum, { usage }) => usageMonoid.concat(sum, usage), noUsage);
  expect(total.totalTokens.sum).toBe(9 * tokensOfCall);
  expect(await host.calls("t", 2)).toEqual([calls[1]]);
  expect(await host.calls("nowhere")).toEqual([]);
});

test("a call that is cancelled cancels the nested turn, and the next one goes on where its caller is", async () => {
  const { host } = await hostOf(pair("parent"), {
    llm: (call, context) =>
      call.threadId === "t/helper" && textOf(call.messages.at(-1) ?? never()) === "slow"
        ? new Promise(() => {})
        : passing(call, context),
  });
  const thread = host.thread("t");
  await thread.ask("a");
  const asked = thread.ask("slow");
  for await (const { type } of asked) if (type === "toolCall") break;
  const nested = host.subagent("helper").thread("t/helper");
  const slow = nested.asked("2.1.0");
  expect((await host.calls("t")).map(({ turn, status }) => [turn, status])).toEqual([
    [1, "completed"],
    [2, "open"],
  ]);
  for (const turn of [1, 2]) expect(await host.calls("t", turn)).toMatchObject([{ turn }]);
  expect(await host.calls("t", 3)).toEqual([]);
  asked.abort("enough");
  await expect(asked).rejects.toThrow(TurnCancelledError);
  await slow;
  await thread.undo();
  expect(await said(thread.ask("b"))).toBe("a,b");
  expect(await nested.asked("2.1.0")).not.toMatchObject({ status: "open" });
  await nested.delete();
  expect(await host.calls("t", 1)).toMatchObject([{ turn: null, status: null, calls: [] }]);
});

test("a host that closes loses nothing: the next one goes on, and asks nothing again that was answered", async () => {
  const files = pair("parent");
  let hangs = true;
  const asked: string[] = [];
  const atHelper = Promise.withResolvers<void>();
  const llm: typeof passing = (call, context) => {
    asked.push(`${call.threadId} ${textOf(call.messages.at(-1) ?? never())}`);
    if (call.threadId !== "t/helper" || !hangs || textOf(call.messages.at(-1) ?? never()) !== "b")
      return passing(call, context);
    atHelper.resolve();
    return new Promise(() => {});
  };
  const clock = virtualClock();
  const { host, store } = await hostOf(files, { llm, clock });
  void host.ask("a b", { threadId: "t" });
  await atHelper.promise;
  await host.close();
  hangs = false;
  const recovered = Promise.withResolvers<unknown>();
  const { host: next } = await hostOf(files, { llm, store, clock, observers: [{ recovered: recovered.resolve }] });
  next.start();
  await clock.advance(1);
  expect(await recovered.promise).toEqual({ continued: ["t"], left: [] });
  const [open] = await next.thread("t").asks();
  expect((await next.thread("t").rejoin(open?.askId ?? "")).text).toBe("a | a,b");
  expect(asked).toEqual(["t a b", "t/helper a", "t/helper b", "t/helper b", "t a,b"]);
});

test("an agent's host continues only the threads that its option `continues` accepts", async () => {
  const clock = virtualClock();
  const begun = Promise.withResolvers<void>();
  let calls = 0;
  const llm: typeof passing = () => {
    if (++calls === 2) begun.resolve();
    return new Promise(() => {});
  };
  const { host, store } = await hostOf(pair("parent"), { llm, clock });
  for (const id of ["web", "phone"]) {
    const thread = host.thread(id);
    await thread.start({ metadata: { from: id } });
    void thread.ask("a");
  }
  await begun.promise;
  await host.close();
  const recovered = Promise.withResolvers<unknown>();
  const { host: next } = await hostOf(pair("parent"), {
    store,
    clock,
    recovery: { continues: ({ from }) => from === "phone" },
    observers: [{ recovered: recovered.resolve }],
  });
  next.start();
  await clock.advance(1);
  expect(await recovered.promise).toEqual({ continued: ["phone"], left: [] });
  await next.close();
});

test("the next call cancels a nested turn that stayed open after its caller was cancelled elsewhere", async () => {
  const atHelper = Promise.withResolvers<void>();
  const { host, store } = await hostOf(pair("parent"), {
    llm: (call, context) => {
      if (call.threadId === "t") return passing(call, context);
      atHelper.resolve();
      return new Promise(() => {});
    },
  });
  void host.ask("a", { threadId: "t" });
  await atHelper.promise;
  await host.close();
  // This host does not know the subagents.
  const plain = createHost({ store, llm: passing, recovery: false });
  await plain.thread("t").cancel("enough");
  await plain.close();
  const { host: next } = await hostOf(pair("parent"), { store });
  expect(await said(next.ask("b", { threadId: "t", askId: "second" }))).toBe("a,b");
  const nested = next.subagent("helper").thread("t/helper");
  expect(await nested.asked("1.1.0")).toMatchObject({ status: "cancelled" });
});

test("a thread that is none of a subagent is not taken for one", async () => {
  const { host } = await hostOf(pair("parent"));
  await host.thread("t/helper").ask("mine");
  expect(await said(host.ask("a", { threadId: "t" }))).toMatch(/there is another thread called "t\/helper"/);
  expect(await host.calls("t")).toMatchObject([{ turn: null, status: null, calls: [] }]);
});

test("instructions that have changed since are used from the next call on", async () => {
  const { host, store } = await hostOf(pair("parent"));
  await host.ask("a", { threadId: "t" });
  await host.close();
  const changed = { ...pair("parent"), "helper.yaml": "name: helper\ninstructions: listen well\ncompression: none" };
  const { host: next } = await hostOf(changed, { store });
  await next.ask("b", { threadId: "t", askId: "second" });
  const state = await next.thread("t/helper").state();
  expect(textOf(state?.context.conversation.system ?? never())).toBe("listen well");
});

test("host.calls lists the calls of subagents, and none of other tools", async () => {
  const { host } = await hostOf(pair("parent"), {
    llm: (call, context) =>
      call.threadId === "t" && call.messages.at(-1)?.role === "user"
        ? Promise.resolve({
            type: "completed",
            reply: {
              toolCalls: [
                { id: null, name: "other", arguments: "{}" },
                { id: null, name: "helper", arguments: '{"message":"a"}' },
              ],
            },
            finishReason: "stop",
          })
        : passing(call, context),
  });
  await host.ask("a", { threadId: "t" });
  expect((await host.calls("t")).map(({ name, callId }) => [name, callId])).toEqual([["helper", "1.1.1"]]);
});

const never = (): never => {
  throw new Error("there is none");
};
