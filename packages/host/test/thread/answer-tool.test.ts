import type { AskPart, LlmContext, LlmOutcome, ToolAnswer } from "@colloquy/host";
import type { CallLlm, CallTool } from "@colloquy/machine";
import { describe, expect, test, vi } from "vitest";
import * as zod from "zod";
import { EventRefusedError, ThreadUnknownError } from "@colloquy/host";
import { overriding } from "../gated-store.ts";
import {
  calls,
  echo,
  entriesOf,
  errorOf,
  journalOf,
  partsOf,
  says,
  settle,
  stage,
  texts,
  answered,
  stored,
} from "../stage.ts";

const day = 86_400_000;

const askUser = { name: "ask_user", description: "Asks the user.", input: zod.object({ what: zod.string() }) };
const asking = { askId: "a", tools: [askUser] };
const call = calls(["ask_user", { what: "All?" }]);

/** Returns a thread whose turn waits for the caller. */
const waiting = async (more: Parameters<typeof stage>[0] = {}) => {
  const on = stage({ script: [call, says("done")], ...more });
  const asked = on.host.ask("Tidy up.", asking);
  asked.catch(() => {});
  await settle();
  return { ...on, thread: on.host.thread(), asked };
};

const typesOf = (parts: readonly AskPart[]): readonly string[] => parts.map(({ type }) => type);

describe("a tool of the caller", () => {
  test("is answered on a host that stood still meanwhile and does not know of the call", async () => {
    const first = await waiting({ leaseTtlMs: 9_000, script: [call, says("done")] });
    // The process was paused: its clock has advanced, but its timers have not fired.
    const later = first.clock.now() + 9_001;
    first.clock.now = () => later;
    const second = first.another({ script: [call] });
    await second.host.thread().answerTool("1.1.0", "Yes.");
    await settle();
    expect(await second.host.thread().callsToAnswer()).toMatchObject([{ callId: "1.2.0" }]);
    await second.host.close();
    const { turn } = await first.thread.answerTool("1.2.0", "Yes, all.");
    expect((await turn)?.text).toBe("done");
    await first.host.close();
  });

  test("is offered beside the host's, its call waits, and its answer goes on with the turn", async () => {
    const offered: (readonly string[])[] = [];
    const offering =
      (outcome: LlmOutcome) =>
      async (_: CallLlm, { tools }: LlmContext): Promise<LlmOutcome> => {
        offered.push(
          tools.map(({ name, parameters }) => `${name} ${Object.keys(parameters?.["properties"] ?? {}).join()}`),
        );
        return outcome;
      };
    const observed: CallTool[] = [];
    const { store, thread, asked } = await waiting({
      tools: [echo],
      script: [offering(call), offering(says("done"))],
      observers: [{ callToAnswer: (each) => observed.push(each) }],
    });
    expect(await thread.callsToAnswer()).toEqual(observed);
    expect(observed).toMatchObject([{ callId: "1.1.0", name: "ask_user", arguments: '{"what":"All?"}', by: "caller" }]);
    const { turn } = await thread.answerTool("1.1.0", "Yes.");
    expect((await turn)?.text).toBe("done");
    expect((await asked).text).toBe("done");
    expect(offered).toEqual([
      ["echo text", "ask_user what"],
      ["echo text", "ask_user what"],
    ]);
    const parts = await partsOf(asked);
    expect(typesOf(parts)).toEqual([
      "turn.started",
      "step.started",
      "toolCall",
      "result.requested",
      "toolResult",
      "step.ended",
      "step.started",
      "text.delta",
      "step.ended",
      "turn.ended",
    ]);
    const place = { turn: 1, step: 1, position: 0, callId: "1.1.0", name: "ask_user" };
    expect(parts[3]).toEqual({ type: "result.requested", ...place, arguments: '{"what":"All?"}' });
    expect(parts[4]).toEqual({ type: "toolResult", ...place, outcome: "completed", content: "Yes." });
    expect(await journalOf(store)).toEqual([...answered, "tool.completed", "llm.completed"]);
  });

  test("waits for days and for no process; another host shows it, offers the same, and takes the answer", async () => {
    const first = await waiting({ idleMs: 1_000 });
    await first.host.close();
    await first.clock.advance(3 * day);
    const seen: string[] = [];
    const second = first.another({
      script: [
        async (_, { tools }) => {
          seen.push(...tools.map(({ description }) => description ?? ""));
          return says("done");
        },
      ],
    });
    const thread = second.host.thread();
    const again = second.host.ask("Tidy up.", { askId: "a" });
    const parts = partsOf(again);
    await settle();
    expect(await thread.callsToAnswer()).toHaveLength(1);
    await thread.answerTool("1.1.0", { failed: "The user is away." });
    expect((await again).text).toBe("done");
    expect(typesOf(await parts)).toContain("result.requested");
    expect(seen).toEqual(["Asks the user."]);
    expect(await texts(thread)).toEqual(["Tidy up.", "", "The user is away.", "done"]);
  });

  test("holds nothing: a thread that only waits is let go of, and counts as idle for recovery", async () => {
    const on = stage({ script: [call], idleMs: 1_000 });
    on.host.ask("Tidy up.", asking).catch(() => {});
    await on.clock.advance(500);
    await on.host.close();
    expect(on.clock.sleepers).toBe(0);
    const recovered = vi.fn();
    const second = on.another({
      script: [says("done")],
      idleMs: 1_000,
      recovery: {},
      observers: [{ recovered }],
    });
    await second.host
      .thread()
      .annotate(1, "x", 1)
      .catch(() => {});
    // Until the leases of dead hosts have run out, recovery looks for them.
    await second.clock.advance(60_000);
    expect(recovered).toHaveBeenCalledExactlyOnceWith({ continued: [], left: [] });
    expect(second.clock.sleepers).toBe(0);
    const { turn } = await second.host.thread().answerTool("1.1.0", null);
    expect((await turn)?.text).toBe("done");
  });

  test("is answered from another host while this one holds the thread", async () => {
    const first = await waiting();
    const second = first.another({ script: [] });
    const answered = second.host.thread().answerTool("1.1.0", "Yes.");
    for (let polls = 0; polls < 5; polls++) await first.clock.advance(1_000);
    const { turn } = await answered;
    const outcome = turn?.then(({ text }) => text);
    for (let polls = 0; polls < 5; polls++) await first.clock.advance(1_000);
    expect(await outcome).toBe("done");
    expect((await first.asked).text).toBe("done");
    expect(second.model.calls).toEqual([]);
    await first.host.close();
  });

  test("is shown as waiting to who follows the thread", async () => {
    const first = stage({ script: [call, says("done")] });
    const second = first.another({ script: [] });
    const asked = first.host.ask("Tidy up.", asking);
    asked.catch(() => {});
    const followed = second.host.ask("Tidy up.", { askId: "a" });
    followed.catch(() => {});
    const parts = partsOf(followed);
    for (let polls = 0; polls < 5; polls++) await first.clock.advance(1_000);
    await first.host
      .thread()
      .answerTool("1.1.0", "Yes.")
      .catch(() => {});
    for (let polls = 0; polls < 5; polls++) await first.clock.advance(1_000);
    await followed.catch(() => {});
    expect(typesOf(await parts)).toContain("result.requested");
    await first.host.close();
  });

  test("a new ask may take its place: the call is settled as interrupted", async () => {
    const { host, clock, thread, asked } = await waiting({ script: [call, says("hello")] });
    expect(String(await errorOf(host.ask("Hello?")))).toMatch(/waits for the caller's answers to 1\.1\.0/);
    const instead = host.ask("Hello?", { overlap: "interrupt" });
    await clock.advance(1);
    expect((await instead).text).toBe("hello");
    expect(await errorOf(asked)).toMatchObject({ name: "TurnCancelledError" });
    expect(typesOf(await partsOf(asked))).toContain("toolResult");
    const late = await errorOf(thread.answerTool("1.1.0", "Yes."));
    expect(String(late)).toMatch(/waits no longer: it was settled as interrupted when its turn stopped/);
  });

  test("that was settled when its turn stopped has no answer, even if one would say the same", async () => {
    const { thread, asked } = await waiting();
    await thread.cancel();
    await errorOf(asked);
    // Another version may settle calls in other words.
    const settled = JSON.stringify(await thread.exportJournal()).replace(
      /"outcome":"interrupted","content":\[\{"type":"text","text":"[^"]*"/,
      '"outcome":"failed","content":[{"type":"text","text":"Gone."',
    );
    expect(settled).toContain("Gone.");
    const elsewhere = await stage().host.importJournal(JSON.parse(settled) as readonly unknown[]);
    expect(String(await errorOf(elsewhere.answerTool("1.1.0", { failed: "Gone." })))).toMatch(
      /waits no longer: it was settled as failed when its turn stopped/,
    );
  });

  test("a cancelled turn and one past its deadline wait no longer", async () => {
    const { thread, asked } = await waiting();
    await thread.cancel();
    expect(await errorOf(asked)).toMatchObject({ name: "TurnCancelledError" });
    expect(await thread.callsToAnswer()).toEqual([]);
    const timed = stage({ script: [call] });
    const failing = errorOf(timed.host.ask("Tidy up.", { ...asking, limits: { deadlineMs: 2_000 } }));
    await timed.clock.advance(2_000);
    expect(await failing).toMatchObject({ name: "LimitReachedError" });
  });

  test("goes away with its words where the turn is redacted", async () => {
    const { store, thread, asked } = await waiting();
    await thread.answerTool("1.1.0", "my secret");
    await asked;
    await thread.redact({ turn: 1 });
    const stored = JSON.stringify(await entriesOf(store));
    expect(stored).not.toMatch(/secret|All\?|Asks the user/);
    // The redacted answer can no longer be compared.
    await thread.answerTool("1.1.0", "my secret");
  });
});

describe("the same answer again", () => {
  test("changes nothing, while the turn goes on and when it has ended", async () => {
    const { store, thread, asked } = await waiting({
      script: [calls(["ask_user", {}], ["ask_user", {}]), says("done")],
    });
    await thread.answerTool("1.1.0", "Yes.");
    const once = await entriesOf(store);
    await thread.answerTool("1.1.0", "Yes.");
    expect(await entriesOf(store)).toEqual(once);
    await thread.answerTool("1.1.1", { failed: "no" });
    await asked;
    const { turn } = await thread.answerTool("1.1.1", { failed: "no" });
    expect(await turn).toEqual(await asked);
  });

  test("from two processes at once counts once", async () => {
    const { thread, asked, store } = await waiting();
    await Promise.all([thread.answerTool("1.1.0", "Yes."), thread.answerTool("1.1.0", "Yes.")]);
    await asked;
    expect((await journalOf(store)).filter((entry) => entry === "tool.completed")).toHaveLength(1);
    const other = await Promise.all([
      errorOf(thread.answerTool("1.1.0", "No.")),
      errorOf(thread.answerTool("1.1.0", { failed: "Yes." })),
    ]);
    for (const error of other) {
      expect(error).toMatchObject({ refusal: { kind: "stale" } });
      expect(String(error)).toMatch(/call 1\.1\.0 was answered before \(completed\), and differently/);
    }
  });
});

describe("refused in words", () => {
  test("a call or a thread that is not there, and one that the host runs itself", async () => {
    const { host, thread, another } = await waiting({
      tools: [{ ...echo, run: () => new Promise(() => {}) }],
      script: [calls(["ask_user", {}], ["echo", { text: "x" }])],
    });
    expect(await errorOf(host.thread("none").answerTool("1.1.0", ""))).toBeInstanceOf(ThreadUnknownError);
    expect(await errorOf(thread.answerTool("7.1.0", ""))).toMatchObject({
      refusal: { kind: "unknown", reason: "there is no tool call 7.1.0 in the thread; waiting are: 1.1.0" },
    });
    expect(String(await errorOf(thread.answerTool("1.1.1", "")))).toMatch(
      /tool "echo" is the host's, which runs call 1\.1\.1/,
    );
    await host.close();
    const { host: next } = another({ tools: [echo] });
    expect(await errorOf(next.thread().answerTool("7.1.0", ""))).toMatchObject({ refusal: { kind: "unknown" } });
    await next.close();
  });

  test.each<[string, unknown]>([
    ["a number", 5],
    ["nothing", undefined],
    ["data", { yes: true }],
    ["a failure without words", { failed: null }],
    ["a list of no parts", [{ kind: "text" }]],
  ])("an answer that is %s", async (_, answer) => {
    const { thread, store } = await waiting();
    const before = await entriesOf(store);
    // A caller in JavaScript may pass this.
    expect(await errorOf(thread.answerTool("1.1.0", answer as ToolAnswer))).toBeInstanceOf(EventRefusedError);
    expect(await entriesOf(store)).toEqual(before);
  });

  test.each<[string, unknown, RegExp]>([
    ["no list", askUser, /it must be a list/],
    ["a tool that runs", [echo], /tools\.0 has a function to run.*answerTool/],
    ["a misspelt member", [{ name: "x", parameters: {} }], /no option "parameters"/],
    ["no name", [{ description: "x" }], /needs the option "name"/],
    ["no schema", [{ name: "x", input: {} }], /tools\.0: input must be a Standard Schema .* \(got an object\)/],
    ["a schema without words", [{ name: "x", input: zod.object({ at: zod.date() }) }], /tools\.0: .*no JSON Schema/],
    ["a name of another type", [{ name: 5 }], /tools\.0\.name/],
    ["two of one name", [askUser, askUser], /two tools of the name "ask_user"/],
    ["a name of the host's", [{ name: "echo" }], /name of a tool of the machine/],
  ])("tools that are %s", async (_, tools, words) => {
    const { host, store } = stage({ tools: [echo], script: [says("A")] });
    await host.ask("Q");
    const before = await entriesOf(store);
    // @ts-expect-error -- as a caller in JavaScript may write
    expect(String(await errorOf(host.ask("Q", { tools })))).toMatch(words);
    expect(await entriesOf(store)).toEqual(before);
  });
});

test("a call of the tenth turn is answered and found again like one of the first", async () => {
  const { host } = stage({ script: [call, says("done")] });
  const thread = host.thread();
  for (let turn = 1; turn < 10; turn++) await thread.addTurn([{ role: "user", content: `${turn}` }]);
  host.ask("Tidy up.", asking).catch(() => {});
  await settle();
  const { turn } = await thread.answerTool("10.1.0", "Yes.");
  expect(await turn).toMatchObject({ turn: 10, text: "done" });
  expect(await thread.answerTool("10.1.0", "Yes.")).toMatchObject({ threadId: "default" });
  expect(String(await errorOf(thread.answerTool("10.1.0", "No.")))).toContain("was answered before (completed)");
});

test("an answer to a call that is being stored waits until it is stored", async () => {
  const { clock, inner } = stored();
  const gate = Promise.withResolvers<void>();
  const store = overriding(inner, {
    append: async (...given) => {
      if (given[2].some(({ event }) => event.type === "llm.completed")) await gate.promise;
      await inner.append(...given);
    },
  });
  const { host } = stage({ clock, store, script: [call, says("done")] });
  const asked = host.ask("Tidy up.", asking);
  await settle();
  const answering = host.thread().answerTool("1.1.0", "Yes.");
  await settle();
  gate.resolve();
  expect(await answering).toMatchObject({ threadId: "default" });
  expect(await asked).toMatchObject({ text: "done" });
});
