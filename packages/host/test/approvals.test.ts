import type { RequestApproval } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { EventRefusedError, tool } from "@colloquy/host";
import type { ToolDefinition, ToolInput } from "@colloquy/host";
import { calls, entriesOf, errorOf, journalOf, partsOf, says, settle, stage } from "./stage.ts";
import type { Stage, StageOptions } from "./stage.ts";

const amount = {
  jsonSchema: {
    type: "object",
    properties: { amount: { type: "integer" } },
    required: ["amount"],
    additionalProperties: false,
  },
};

/** A tool that needs approval, and what it was run with. */
const paying = (definition: Partial<ToolDefinition<ToolInput>> = {}) => {
  const runs: { readonly input: unknown; readonly key: string }[] = [];
  const pay = tool({
    name: "pay",
    description: "Pays.",
    input: amount,
    approval: "always",
    run: (input, { idempotencyKey }) => {
      runs.push({ input, key: idempotencyKey });
      return "paid";
    },
    ...definition,
  });
  return { runs, pay };
};

const asking = (options: StageOptions): Stage =>
  stage({ script: [calls(["pay", { amount: 5 }]), says("done")], ...options });

const outcomesOf = async ({ store }: Stage): Promise<readonly string[]> =>
  (await entriesOf(store)).flatMap(({ event }) =>
    event.type === "tool.failed" ? [`${event.outcome}: ${JSON.stringify(event.content)}`] : [],
  );

const day = 86_400_000;

describe("a tool call that needs approval", () => {
  test("waits for days and for no process, is answered from another, and runs once", async () => {
    const { runs, pay } = paying({ recovery: "once" });
    const first = asking({ tools: [pay] });
    const asked = first.host.ask("pay 5", { askId: "a" });
    const waiting = errorOf(asked);
    await settle();
    expect(runs).toEqual([]);
    await first.host.close();
    expect(await waiting).toMatchObject({ name: "ThreadClosedError" });
    await first.clock.advance(3 * day);

    const second = first.another({ script: [says("done")] });
    const thread = second.host.thread();
    const [request] = await thread.approvals();
    expect(request).toMatchObject({ name: "pay", arguments: { amount: 5 }, because: "declared", callId: "1.1.0" });
    await thread.approve(request?.id ?? "", { by: "ann", digest: request?.digest ?? "" });
    expect((await second.host.ask("pay 5", { askId: "a" })).text).toBe("done");
    expect(runs).toEqual([{ input: { amount: 5 }, key: "default/1.1.0#1" }]);
    expect(await thread.approvals()).toEqual([]);
    expect(await journalOf(first.store)).toEqual([
      "thread.started",
      "ask.received",
      "llm.completed",
      "tool.withheld",
      "approval.answered",
      "tool.started",
      "tool.completed",
      "llm.completed",
    ]);
  });

  test("is let go of when nobody waits for it here, and needs no lease to be looked at", async () => {
    const { pay } = paying();
    const first = asking({ tools: [pay], idleMs: 1_000 });
    const asked = first.host.ask("pay 5");
    asked.catch(() => {});
    await first.clock.advance(100_000);
    const second = first.another({ script: [says("done")] });
    // A handle waits: the thread stays held.
    expect(first.clock.sleepers).toBeGreaterThan(0);
    expect(await second.host.thread().approvals()).toHaveLength(1);
    await first.host.close();
    await second.host
      .thread()
      .annotate(1, "x", 1)
      .catch(() => {});
    await first.clock.advance(1_000);
    expect(first.clock.sleepers).toBe(0);
  });

  test("is answered from another host while this one holds the thread, because somebody waits here", async () => {
    const { runs, pay } = paying();
    const first = asking({ tools: [pay] });
    const asked = first.host.ask("pay 5");
    await settle();
    const there = first.another({ script: [] }).host.thread();
    const [request] = await there.approvals();
    const approved = there.approve(request?.id ?? "", { by: "ann" });
    await first.clock.advance(1_000);
    await approved;
    expect((await asked).text).toBe("done");
    expect(runs).toHaveLength(1);
    const refused = errorOf(there.deny(request?.id ?? ""));
    await first.clock.advance(1_000);
    expect(await refused).toMatchObject({ refusal: { kind: "stale" } });
  });

  test("is shown to whoever asked and to observers, again after a restart", async () => {
    const seen: RequestApproval[] = [];
    const observers = [{ approval: (request: RequestApproval) => void seen.push(request) }];
    const { pay } = paying();
    const first = asking({ tools: [pay], observers });
    const asked = first.host.ask("pay 5", { askId: "a" });
    await settle();
    const iterator = asked[Symbol.asyncIterator]();
    let part = await iterator.next();
    while (part.value?.type !== "approval.requested") part = await iterator.next();
    expect(part.value.request).toEqual(seen[0]);
    await first.host.close();
    const next = first.another({ script: [says("done")] });
    const again = next.host.ask("pay 5", { askId: "a" });
    await settle();
    expect(seen).toHaveLength(2);
    expect(seen[1]).toEqual(seen[0]);
    await next.host.thread().approve(seen[0]?.id ?? "");
    const parts = await partsOf(again);
    expect(parts.map(({ type }) => type)).toContain("approval.requested");
  });

  test("that is denied is told to the model, with the reason, and never runs", async () => {
    const { runs, pay } = paying();
    const on = asking({ tools: [pay] });
    const asked = on.host.ask("pay 5");
    await settle();
    const [request] = await on.host.thread().approvals();
    await on.host.thread().deny(request?.id ?? "", { reason: "too much", by: "bob" });
    expect((await asked).text).toBe("done");
    expect(runs).toEqual([]);
    expect(JSON.stringify(on.model.calls[1]?.messages)).toContain("too much");
    expect(await errorOf(on.host.thread().approve(request?.id ?? ""))).toBeInstanceOf(EventRefusedError);
  });

  test("can't be approved by an answer about another", async () => {
    const { runs, pay } = paying();
    const on = asking({ tools: [pay] });
    on.host.ask("pay 5").catch(() => {});
    await settle();
    const [request] = await on.host.thread().approvals();
    const refused = await errorOf(on.host.thread().approve(request?.id ?? "", { digest: "other" }));
    expect(refused).toMatchObject({ refusal: { kind: "invalid" } });
    expect(runs).toEqual([]);
  });

  test("whose arguments do not fit is refused before anybody is asked", async () => {
    const { pay } = paying();
    const on = asking({ tools: [pay], script: [calls(["pay", { amount: "five" }]), says("done")] });
    await on.host.ask("pay");
    expect(await outcomesOf(on)).toEqual([expect.stringMatching(/refused: .*expected integer/)]);
    expect(await journalOf(on.store)).not.toContain("tool.withheld");
  });

  test("is stopped with its turn", async () => {
    const { runs, pay } = paying();
    const on = asking({ tools: [pay] });
    const asked = on.host.ask("pay 5");
    await settle();
    const [request] = await on.host.thread().approvals();
    asked.abort("enough");
    expect(await errorOf(asked)).toMatchObject({ name: "TurnCancelledError" });
    expect(await errorOf(on.host.thread().approve(request?.id ?? ""))).toMatchObject({ refusal: { kind: "stale" } });
    expect(runs).toEqual([]);
  });

  test("by another version, or with other arguments than were approved, is asked about anew", async () => {
    const limits: [Partial<ToolDefinition<ToolInput>>, Partial<ToolDefinition<ToolInput>>][] = [
      [{ version: "1" }, { version: "2" }],
      [{ input: rounding(10) }, { input: rounding(100) }],
    ];
    for (const [before, after] of limits) {
      const first = asking({ tools: [paying(before).pay], script: [calls(["pay", { amount: 57 }])] });
      first.host.ask("pay", { askId: "a" }).catch(() => {});
      await settle();
      const [request] = await first.host.thread().approvals();
      await first.host.close();
      const { runs, pay } = paying(after);
      const next = first.another({ tools: [pay], script: [says("done")] });
      const asked = next.host.ask("pay", { askId: "a" });
      await next.host.thread().approve(request?.id ?? "");
      await settle();
      expect(runs).toEqual([]);
      const [anew] = await next.host.thread().approvals();
      expect(anew?.id).not.toBe(request?.id);
      expect(anew?.digest).not.toBe(request?.digest);
      await next.host.thread().approve(anew?.id ?? "");
      expect((await asked).text).toBe("done");
      expect(runs).toHaveLength(1);
    }
  });

  test("whose arguments do not fit any more when it is approved is refused", async () => {
    const first = asking({ tools: [paying().pay] });
    first.host.ask("pay 5", { askId: "a" }).catch(() => {});
    await settle();
    const [request] = await first.host.thread().approvals();
    await first.host.close();
    const { runs, pay } = paying({ input: { jsonSchema: { type: "object", required: ["to"] } } });
    const next = first.another({ tools: [pay], script: [says("done")] });
    const asked = next.host.ask("pay 5", { askId: "a" });
    await next.host.thread().approve(request?.id ?? "");
    expect((await asked).text).toBe("done");
    expect(runs).toEqual([]);
    expect(await outcomesOf(next)).toEqual([expect.stringMatching(/refused: .*required, but missing/)]);
  });

  test("is shown its arguments as validated, or as they were written where those are no JSON", async () => {
    const dated: ToolInput = {
      "~standard": {
        version: 1,
        vendor: "test",
        jsonSchema: { input: () => ({}) },
        validate: () => ({ value: { amount: 5, on: new Date(0) } }),
      },
    };
    for (const [input, shown] of [
      [rounding(10), { amount: 50 }],
      [dated, { amount: 57 }],
    ] as const) {
      const on = asking({ tools: [paying({ input }).pay], script: [calls(["pay", { amount: 57 }])] });
      on.host.ask("pay").catch(() => {});
      await settle();
      expect((await on.host.thread().approvals())[0]?.arguments).toEqual(shown);
    }
  });
});

describe("a tool that says which calls need approval", () => {
  test("has those run that do not, and keeps the others waiting, in one round", async () => {
    // The schema above has seen to its type.
    const { runs, pay } = paying({ approval: (input) => (input as { readonly amount: number }).amount > 10 });
    const script = [calls(["pay", { amount: 5 }], ["pay", { amount: 50 }]), says("done")];
    const on = asking({ tools: [pay], script });
    const asked = on.host.ask("pay");
    await settle();
    expect(runs.map(({ input }) => input)).toEqual([{ amount: 5 }]);
    const requests = await on.host.thread().approvals();
    expect(requests.map(({ arguments: given }) => given)).toEqual([{ amount: 50 }]);
    await on.host.thread().approve(requests[0]?.id ?? "");
    await asked;
    expect(runs.map(({ key }) => key)).toEqual(["default/1.1.0#1", "default/1.1.1#1"]);
  });

  test.each<[string, ToolDefinition<ToolInput>["approval"], readonly string[]]>([
    // Written in JavaScript it may say nothing.
    ["forgets to answer", (() => undefined) as unknown as () => boolean, []],
    [
      "throws",
      () => {
        throw new Error("no rules");
      },
      [expect.stringMatching(/failed: .*no rules/)],
    ],
  ])("and %s does not run unasked", async (_, approval, outcomes) => {
    const { runs, pay } = paying(approval === undefined ? {} : { approval });
    const on = asking({ tools: [pay] });
    on.host.ask("pay").catch(() => {});
    await settle();
    expect(runs).toEqual([]);
    expect(await outcomesOf(on)).toEqual(outcomes);
  });
});

/** Arguments whose amount is rounded down. */
const rounding = (to: number): ToolInput => ({
  "~standard": {
    version: 1,
    vendor: "test",
    jsonSchema: { input: () => ({}) },
    // These tests send amounts.
    validate: (value) => ({ value: { amount: Math.floor((value as { readonly amount: number }).amount / to) * to } }),
  },
});
