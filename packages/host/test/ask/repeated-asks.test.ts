import { AskRefusedError } from "@colloquy/host";
import { type AskReceived, conversationMachine, start, type State, transition, turnNumbered } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { Ask } from "../../src/ask/ask.ts";
import { Asks, announce } from "../../src/ask/asks.ts";
import { calls, entriesOf, errorOf, held, journalOf, partsOf, says, settle, stage, plain } from "../stage.ts";

const askId = "a";

const expectOther = (error: unknown): void => {
  expect(error).toBeInstanceOf(AskRefusedError);
  expect(error).toMatchObject({ askId, refusal: { kind: "invalid" } });
  expect(String(error)).toMatch(/ask "a" was made before, and its input differs from this one/);
};

test("an ask that is repeated while its turn runs is shown the turn from its beginning, and each request once", async () => {
  const model = held();
  const deploy = plain("deploy", () => "done", { approval: "always" });
  const { host } = stage({ tools: [deploy], script: [calls(["deploy", {}]), model.step] });
  const first = partsOf(host.ask("one", { askId }));
  await settle();
  const second = partsOf(host.ask("one", { askId }));
  const [request] = await host.thread().approvals();
  await host.thread().approve(request?.id ?? "none");
  await settle();
  model.show("half");
  const third = partsOf(host.ask("one", { askId }));
  model.answer(says("half"));
  const types = (await first).map(({ type }) => type);
  expect(types.filter((type) => type === "approval.requested")).toHaveLength(1);
  expect(await second).toEqual(await first);
  expect(await third).toEqual(await first);
});

describe("an ask under the id of another that says something else", () => {
  test("is refused while the first is under way, which continues; the same ask has the same outcome", async () => {
    const model = held();
    const { host, store } = stage({ script: [model.step] });
    const first = host.ask("one", { askId });
    const together = errorOf(host.ask("two", { askId }));
    await settle();
    expectOther(await together);
    expectOther(await errorOf(host.ask("two", { askId })));
    const same = host.ask("one", { askId });
    model.answer(says("1"));
    expect([(await first).text, (await same).text]).toEqual(["1", "1"]);
    expectOther(await errorOf(host.ask("two", { askId })));
    expect((await host.ask("one", { askId })).text).toBe("1");
    expect(await journalOf(store)).toEqual(["thread.started", "ask.received", "llm.completed"]);
  });

  test("is refused on a thread that another host holds, before and after that answered", async () => {
    const model = held();
    const first = stage({ script: [model.step] });
    const handle = first.host.ask("one", { askId });
    await settle();
    const second = first.another({ script: [] });
    const other = errorOf(second.host.ask("two", { askId }));
    const same = second.host.ask("one", { askId });
    await first.clock.advance(1_000);
    expectOther(await other);
    model.answer(says("1"));
    await first.clock.advance(1_000);
    expect([(await handle).text, (await same).text]).toEqual(["1", "1"]);
    const late = errorOf(second.host.ask("two", { askId }));
    await first.clock.advance(1_000);
    expectOther(await late);
    expect(await first.store.inbox?.unanswered("default")).toEqual([]);
  });

  test("is refused as an inbox item, and takes nothing from the one that was first", async () => {
    const model = held();
    const first = stage({ script: [model.step, says("1")] });
    const under = first.host.ask("something else");
    await settle();
    const event = (input: string) => ({ type: "ask.received", at: 1, askId, input }) as const;
    await first.store.inbox?.post("default", { id: "letter-1", event: event("one") });
    await first.store.inbox?.post("default", { id: "letter-2", event: event("two") });
    model.answer(says("0"));
    await under;
    // No host waits for them.
    await first.clock.advance(2_000);
    expect(await first.store.inbox?.answerTo("default", "letter-1")).toMatchObject({ handled: true });
    expect(await first.store.inbox?.answerTo("default", "letter-2")).toMatchObject({
      handled: false,
      refusal: { kind: "invalid", reason: expect.stringContaining("its input differs") },
    });
    expect((await entriesOf(first.store)).filter(({ event: { type } }) => type === "ask.received")).toHaveLength(2);
  });

  test("is refused if its lease is lost before it is handled, and another host took an ask with its id", async () => {
    const model = held();
    const first = stage({
      leaseTtlMs: 9_000,
      script: [model.step, says("late")],
      machine: { overlap: { type: "queue", max: 9 } },
    });
    const under = first.host.ask("zero");
    under.catch(() => {});
    await settle();
    await first.store.release({ threadId: "default", owner: "owner-1", token: 1 });
    const second = first.another({ script: [says("0"), says("1")] });
    const taken = second.host.ask("one", { askId });
    await first.clock.advance(100);
    const other = errorOf(first.host.ask("two", { askId }));
    await first.clock.advance(20_000);
    expect((await taken).text).toBe("1");
    expectOther(await other);
  });

  test("is refused if the first one's turn is reported before it was taken, and does not get that outcome", async () => {
    const machine = conversationMachine();
    const event = (input: string): AskReceived => ({ type: "ask.received", at: 1, askId, input });
    const asks = new Asks();
    const [same, other] = ["one", "two"].map((input) => {
      const ask = new Ask("t", askId, undefined, () => true);
      ask.event = event(input);
      asks.add(ask);
      return ask;
    });
    let state: State = start(machine, { threadId: "t", at: 0 }).state;
    const reply = { content: "1" };
    const answer = { type: "llm.completed", at: 2, effectId: "t/1.1#1", reply, finishReason: "stop" } as const;
    for (const each of [event("one"), answer]) {
      const step = transition(machine, state, each);
      ({ state } = step);
      const ended = turnNumbered(state, 1);
      for (const effect of step.effects) if (effect.type === "publish") announce(asks, effect.signal, state, ended);
    }
    expectOther(await other?.catch((thrown: unknown) => thrown));
    expect(await same).toMatchObject({ text: "1", turn: 1 });
  });
});

describe("asks", () => {
  test("may choose their overlap while a turn is open, and may join it", async () => {
    const model = held();
    const { host } = stage({ script: [model.step, says("both")] });
    const thread = host.thread();
    const first = thread.ask("one", { askId: "a" });
    await settle();
    expect(await errorOf(thread.ask("two"))).toMatchObject({ refusal: { kind: "busy" } });
    const steered = thread.steer("also", { askId: "s", during: "a" });
    expect(await errorOf(thread.steer("also", { during: "z" }))).toMatchObject({ name: "AskRefusedError" });
    const queued = thread.ask("later", { askId: "q", overlap: "queue" });
    queued.catch(() => {});
    await settle();
    expect(await thread.asked("s")).toMatchObject({ status: "joining", turn: 1 });
    expect(await thread.asked("q")).toMatchObject({ status: "queued" });
    queued.abort();
    model.answer(says("1"));
    expect(await steered).toMatchObject({ text: "both", turn: 1 });
    expect((await first).text).toBe("both");
    expect(await errorOf(thread.steer("too late"))).toMatchObject({ name: "AskRefusedError" });
  });
});
