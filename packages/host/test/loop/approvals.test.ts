import type { RequestApproval } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { EventRefusedError } from "@colloquy/host";
import type { ToolDefinition, ToolInput } from "@colloquy/host";
import { asking, paying, rounding } from "../paying.ts";
import { calls, entriesOf, errorOf, journalOf, partsOf, says, settle, type Stage } from "../stage.ts";

const outcomesOf = async ({ store }: Stage): Promise<readonly string[]> =>
  (await entriesOf(store)).flatMap(({ event }) =>
    event.type === "tool.failed" ? [`${event.outcome}: ${JSON.stringify(event.content)}`] : [],
  );

describe("a tool call that needs approval", () => {
  test("is shown to the asker and to observers, again after a restart", async () => {
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

  test("is no call of a tool to the hooks before it runs, and an observer that fails changes nothing", async () => {
    const called: string[] = [];
    const reported: string[] = [];
    const { pay } = paying();
    const on = asking({
      tools: [pay],
      hooks: { beforeToolCall: ({ approval }) => void called.push(JSON.stringify(approval)) },
      observers: [
        {
          approval: () => {
            throw new Error("bad");
          },
        },
      ],
      onObserverError: (error, where) => reported.push(`${where}: ${String(error)}`),
    });
    const asked = on.host.ask("pay 5");
    await settle();
    expect(called).toEqual([]);
    expect(reported).toEqual(["observer.approval: Error: bad"]);
    await on.host.thread().approve((await on.host.thread().approvals())[0]?.id ?? "");
    await asked;
    expect(called).toEqual([JSON.stringify({ because: "declared", version: null, arguments: { amount: 5 } })]);
  });

  test("that is denied is read by the model, with the reason, and never runs", async () => {
    const { runs, pay } = paying();
    const on = asking({ tools: [pay] });
    const asked = on.host.ask("pay 5");
    await settle();
    const [request] = await on.host.thread().approvals();
    await on.host.thread().deny(request?.id ?? "", { reason: "too much", by: "bob" });
    expect((await asked).text).toBe("done");
    expect(runs).toEqual([]);
    const results = (await partsOf(asked)).filter(({ type }) => type === "toolResult");
    expect(results).toMatchObject([
      { callId: "1.1.0", outcome: "refused", content: "Not run: it was not approved: too much" },
    ]);
    // The parts from the journal alone.
    const replayed = await partsOf(on.another().host.thread().rejoin(asked.askId));
    expect(replayed.filter(({ type }) => type === "toolResult")).toEqual(results);
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

  test("with invalid arguments is refused without an approval request", async () => {
    const { pay } = paying();
    const on = asking({ tools: [pay], script: [calls(["pay", { amount: "five" }]), says("done")] });
    await on.host.ask("pay");
    expect(await outcomesOf(on)).toEqual([expect.stringMatching(/refused: .*expected integer/)]);
    expect(await journalOf(on.store)).not.toContain("tool.withheld");
  });

  test.each([
    ["at the top", '{"amount":5,"__proto__":{"y":1}}', "__proto__"],
    ["within", '{"amount":5,"x":[{"__proto__":{"y":1}}]}', "__proto__"],
    ["nested too deep", `{"amount":${"[".repeat(300)}${"]".repeat(300)}}`, "nested"],
    ["nested beyond any stack", `{"amount":${"[".repeat(20_000)}${"]".repeat(20_000)}}`, "nested"],
    ["no number any more", '{"amount":1e999}', "Infinity"],
  ])("whose arguments no journal would keep is refused, and the thread goes on: %s", async (_, given, why) => {
    const any: ToolInput = { jsonSchema: { type: "object" } };
    for (const approval of ["always", () => true] as const) {
      const { runs, pay } = paying({ input: any, recovery: "once", approval });
      const on = asking({ tools: [pay], script: [calls(["pay", given]), says("done")] });
      expect((await on.host.ask("pay", { askId: "a" })).text).toBe("done");
      expect(await outcomesOf(on)).toEqual([expect.stringMatching(new RegExp(`refused: .*do not fit.*${why}`))]);
      await on.host.close();
      expect(await on.another().host.thread().asked("a")).toMatchObject({ status: "completed" });
      expect(runs).toEqual([]);
    }
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

  test("by another version, or with other arguments than approved, needs a new approval", async () => {
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
    const made = (value: unknown): ToolInput => ({
      "~standard": { version: 1, vendor: "test", jsonSchema: { input: () => ({}) }, validate: () => ({ value }) },
    });
    const hidden = Object.defineProperty({ amount: 5 }, "to", { value: "bob" });
    for (const [input, shown] of [
      [rounding(10), { amount: 50 }],
      [dated, { amount: 57 }],
      [made([1, 2]), [1, 2]],
      [made(Object.assign([1, 2], { to: "bob" })), { amount: 57 }],
      [made({ list: [hidden] }), { amount: 57 }],
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
    // The schema above has checked its type.
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
    // A function in JavaScript may return nothing.
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
