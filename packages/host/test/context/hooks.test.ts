import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { type Hooks, type StatesAround } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { fold } from "@colloquy/machine/journal";
import { calls, journalOf, plain, says, settle, stage } from "../stage.ts";

const echo = plain("echo", () => "ran");
const script = [calls(["echo", {}], ["echo", {}]), says("done")];

const noting = (seen: string[]): Required<Hooks> => ({
  beforeTurn: ({ turn }) => void seen.push(`beforeTurn ${turn}`),
  afterTurn: ({ turn }) => void seen.push(`afterTurn ${turn.number} ${turn.outcome.status}`),
  beforeStep: ({ step }) => void seen.push(`beforeStep ${step}`),
  afterStep: ({ step }) => void seen.push(`afterStep ${step}`),
  beforeToolCall: ({ position }) => void seen.push(`beforeToolCall ${position}`),
  afterToolCall: ({ position }, { type }) => void seen.push(`afterToolCall ${position} ${type}`),
});

describe("hooks", () => {
  test("are called around turns, steps and tool calls", async () => {
    const seen: string[] = [];
    const { host } = stage({ tools: [echo], script, hooks: noting(seen) });
    await host.ask("go");
    expect(seen).toEqual([
      "beforeTurn 1",
      "beforeStep 1",
      "beforeToolCall 0",
      "beforeToolCall 1",
      "afterToolCall 0 tool.completed",
      "afterToolCall 1 tool.completed",
      "afterStep 1",
      "beforeStep 2",
      "afterStep 2",
      "afterTurn 1 completed",
    ]);
  });

  test("are not called before a retry", async () => {
    const seen: string[] = [];
    const failure = { kind: "network", message: "no", retryable: true } as const;
    const { host, clock } = stage({ script: [{ type: "failed", failure }, says("done")], hooks: noting(seen) });
    const asked = host.ask("go");
    await clock.advance(60_000);
    expect((await asked).text).toBe("done");
    expect(seen).toEqual(["beforeTurn 1", "beforeStep 1", "afterStep 1", "afterTurn 1 completed"]);
  });

  test.each([
    ["beforeStep", 0],
    ["beforeToolCall", 1],
  ] as const)("%s is awaited, and work that is cancelled meanwhile is not done", async (name, called) => {
    let runs = 0;
    const counting = plain("echo", () => runs++);
    const { promise, resolve } = Promise.withResolvers<void>();
    const { host, model } = stage({ tools: [counting], script, hooks: { [name]: () => promise } });
    const handle = host.ask("go");
    for (const act of [() => handle.abort(), resolve]) {
      await settle();
      expect([model.calls.length, runs]).toEqual([called, 0]);
      act();
    }
    expect(await handle.catch(() => "cancelled")).toBe("cancelled");
    await settle();
    expect([model.calls.length, runs]).toEqual([called, 0]);
  });

  test("and observers that throw are reported, and change nothing", async () => {
    const names = ["beforeTurn", "afterTurn", "beforeStep", "afterStep", "beforeToolCall", "afterToolCall"] as const;
    const bad = (): never => {
      throw new Error("bad");
    };
    const reported = new Set<string>();
    const run = async (hooks: Hooks): Promise<void> => {
      const { host } = stage({
        tools: [echo],
        script,
        hooks,
        observers: [{ entry: bad, signal: bad }],
        onObserverError: (error, where) => {
          reported.add(`${where}: ${String(error)}`);
          throw new Error("so is this");
        },
      });
      expect((await host.ask("go")).text).toBe("done");
    };
    await run(Object.fromEntries(names.map((name) => [name, bad])));
    await run(Object.fromEntries(names.map((name) => [name, async () => Promise.reject(new Error("later"))])));
    const wheres = [...reported].map((report) => report.split(":")[0]);
    expect(new Set(wheres)).toEqual(new Set([...names, "observer.entry", "observer.signal"]));
    expect(reported).toContain("beforeStep: Error: later");
  });
});

test("observers get the states around each entry: those that the journal folds to", async () => {
  const seen: (readonly [Entry, StatesAround])[] = [];
  const { host, store } = stage({
    tools: [echo],
    script,
    observers: [{ entry: (entry, _, states) => seen.push([entry, states]) }],
  });
  await host.ask("go", { threadId: "t" });
  await host.thread("t").redact({ turn: 1 });
  const entries = seen.map(([entry]) => entry);
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index));
  expect(entries.at(-1)?.event.type).toBe("thread.redacted");
  const folded = entries.map((_, index) => Either.toUnion(fold(entries.slice(0, index + 1))));
  expect(seen.map(([, { after }]) => after)).toEqual(folded);
  expect(seen.map(([, { before }]) => before)).toEqual([null, ...folded.slice(0, -1)]);
  expect(await store.read("t")).toHaveLength(entries.length);
});

test("an observer that closes the thread stops it before anything more is done", async () => {
  const { host, model, store } = stage({
    script: [says("unwanted")],
    observers: [{ entry: ({ event }) => void (event.type === "ask.received" && host.thread().close()) }],
  });
  expect(await host.ask("go").catch(String)).toContain("ThreadClosedError");
  expect(model.calls).toHaveLength(0);
  expect(await journalOf(store)).toEqual(["thread.started", "ask.received"]);
});
