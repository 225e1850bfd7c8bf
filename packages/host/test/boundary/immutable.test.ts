// Code that gets values from a host, or passes values in, may write into them without an effect.
import { fold } from "@colloquy/machine/journal";
import { tool } from "@colloquy/host";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { calls, echo, entriesOf, partsOf, says, stage } from "../stage.ts";

/** Writes into all reachable objects, and continues if a write throws. Skips functions and the platform's objects. */
const scribble = (value: unknown, seen = new Set<unknown>()): void => {
  if (typeof value !== "object" || value === null || seen.has(value) || value instanceof AbortSignal) return;
  seen.add(value);
  for (const member of Object.values(value)) scribble(member, seen);
  const writes: readonly (() => unknown)[] = [
    () => Object.assign(value, { role: "tool", text: "scribbled", parts: [], id: "scribbled" }),
    () => Object.defineProperty(value, "type", { value: "scribbled", configurable: true }),
    () => Array.isArray(value) && value.splice(0, value.length, "scribbled"),
    () => Object.setPrototypeOf(value, null),
  ];
  for (const write of writes) {
    try {
      write();
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(TypeError);
    }
  }
};

const script = () => [calls(["echo", { text: "hello" }]), says("So it says."), says("And so on.")];

/** Returns the stored entries and the host's prompts without writes by other code. */
const untouched = async (): Promise<readonly string[]> => {
  const { host, store, model } = stage({ script: script(), tools: [echo] });
  await host.ask("Say it.", { askId: "one" });
  await host.ask([{ type: "text", text: "Again." }], { askId: "two", metadata: { who: ["me"] } });
  await host.close();
  return textsOf(await entriesOf(store), model.calls);
};

const textsOf = (...values: readonly unknown[]): readonly string[] => values.map((value) => JSON.stringify(value));

describe("a thread is the same", () => {
  test("if handlers, hooks, observers, tools and callers write into all values that they get", async () => {
    const { host, store, model, another } = stage({
      script: script().map((outcome) => async (call, context) => {
        context.onDelta({ type: "text", text: "So" });
        scribble(call);
        return outcome;
      }),
      tools: [
        {
          ...echo,
          run: (input, call) => {
            const said = echo.run(input, call);
            scribble([input, call.state(), call.toolContext]);
            return said;
          },
        },
      ],
      toolContext: { users: 1 },
      hooks: {
        beforeTurn: scribble,
        beforeStep: scribble,
        beforeToolCall: scribble,
        afterStep: scribble,
        afterTurn: scribble,
        afterToolCall: (...given) => scribble(given),
      },
      observers: [{ entry: (...given) => scribble(given), signal: (signal) => scribble(signal) }],
      snapshotEvery: 1,
    });
    const thread = host.thread();
    const first = host.ask("Say it.", { askId: "one" });
    scribble(await partsOf(first));
    scribble(await first);
    const given = { input: [{ type: "text" as const, text: "Again." }], metadata: { who: ["me"] } };
    const second = host.ask(given.input, { askId: "two", metadata: given.metadata });
    scribble(given);
    scribble(await second);
    scribble([await thread.state(), await thread.explain(), await thread.asks(), await thread.at(3)]);
    scribble(await thread.exportJournal());
    const state = await thread.state();
    const entries = await entriesOf(store);
    expect(textsOf(entries, model.calls)).toEqual(await untouched());
    const folded = fold(entries);
    expect(Either.isRight(folded) && JSON.stringify(folded.right)).toBe(JSON.stringify(state));
    await host.close();
    // A snapshot does not show the writes, either.
    const next = another({ script: [] });
    expect(await next.host.thread().state()).toEqual(state);
    await next.host.close();
  });

  test("if approvals are changed, and the tool changes the arguments of its approval check", async () => {
    const pay = tool({
      name: "pay",
      description: "Pays.",
      input: { jsonSchema: { type: "object", properties: { to: { type: "string" } } } },
      approval: (input) => {
        scribble(input);
        return true;
      },
      run: ({ to }) => `paid ${String(to)}`,
    });
    const { host, store } = stage({
      script: [calls(["pay", { to: "Ada" }]), says("Done.")],
      tools: [pay],
      observers: [{ approval: (request) => scribble(request) }],
    });
    const asked = host.ask("Pay Ada.");
    const thread = host.thread();
    for await (const part of asked) {
      if (part.type !== "approval.requested") continue;
      expect(part.request.arguments).toEqual({ to: "Ada" });
      const { id, digest } = part.request;
      scribble([part, await thread.approvals()]);
      await thread.approve(id, { digest });
      break;
    }
    await asked;
    const results = (await entriesOf(store)).map(({ event }) =>
      event.type === "tool.completed" ? event.content : null,
    );
    expect(results).toContain("paid Ada");
    await host.close();
  });
});

describe("arguments are copied before the call returns", () => {
  test("the arguments of start, fork and redact", async () => {
    const { host, store } = stage({ script: [says("ok")] });
    const begin = {
      system: "Be kind.",
      seed: [{ role: "user" as const, content: "Before." }],
      metadata: { who: ["me"] },
    };
    const thread = host.thread("t");
    const started = thread.start(begin);
    scribble(begin);
    await started;
    await thread.ask("Hello.");
    const forking = { metadata: { who: ["you"] }, threadId: "u" };
    const forked = thread.fork(forking);
    scribble(forking);
    await forked;
    const target = { seqs: [1] };
    const redacted = thread.redact(target);
    target.seqs[0] = 0;
    expect(await redacted).toEqual([1]);
    const [beginning] = await entriesOf(store, "t");
    expect(beginning?.event).toMatchObject({
      system: "Be kind.",
      seed: [{ role: "user", content: "Before." }],
      metadata: { who: ["me"] },
    });
    const copied = await host.thread("u").state();
    expect(copied?.context.metadata).toEqual({ who: ["you"] });
    await host.close();
  });
});
