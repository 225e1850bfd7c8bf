import type { StandardSchema } from "@colloquy/host";
import { ConfigurationError } from "@colloquy/machine";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { type CallPart, session, SignatureError } from "../../src/index.ts";
import { seeing, sessionOf } from "../programs.ts";
import { runs } from "../../../../test/runs.ts";

const partsOf = async (call: AsyncIterable<CallPart>): Promise<readonly CallPart[]> => {
  const parts: CallPart[] = [];
  for await (const part of call) parts.push(part);
  return parts;
};

/** Returns the program's own parts, with the start and end of its turn. */
const shown = (parts: readonly CallPart[]): readonly unknown[] =>
  parts.flatMap((part): readonly unknown[] => {
    if (part.type === "status") return [part.text];
    if (part.type === "partial") return [part.outputs];
    if (part.type === "nested") return part.part.type === "text.delta" ? [[part.name, part.part.text]] : [];
    return part.type.startsWith("turn.") ? [part.type] : [];
  });

describe("the parts of a call", () => {
  const busy = () =>
    sessionOf(
      async ({ q }, { status, partial, ask }) => {
        status("thinking");
        partial({ a: "It" });
        const { text } = await ask("draft", q);
        return { a: text };
      },
      { llm: scriptedModel([reply("It is so.")]) },
    );

  it("are statuses, partial outputs and what models within write, between those of the turn", async () => {
    const call = busy().call({ q: "Q1" });
    const expected = [
      "turn.started",
      "thinking",
      { a: "It" },
      ["draft", "It "],
      ["draft", "is "],
      ["draft", "so."],
      "turn.ended",
    ];
    expect(joined(shown(await partsOf(call)))).toEqual(joined(expected));
    expect(joined(shown(await partsOf(call)))).toEqual(joined(expected));
    expect(await call).toEqual({ a: "It is so." });
  });

  it("are those of nested programs as well", async () => {
    const child = busy();
    const parent = sessionOf((inputs) => child.call(inputs), { name: "parent", llm: scriptedModel([reply("So.")]) });
    const parts = await partsOf(parent.call({ q: "Q1" }));
    const nested = parts.flatMap((part) => (part.type === "nested" ? [part] : []));
    expect(new Set(nested.map(({ name }) => name))).toEqual(new Set(["qa"]));
    expect(shown(nested.map(({ part }) => part))[1]).toBe("thinking");
  });

  it("are the newest of very many, for each reader, and the first says how many are missing", async () => {
    const many = 9_000;
    const qa = sessionOf((_, { status }) => {
      for (let index = 0; index < many; index++) status(String(index));
      return { a: "" };
    });
    const call = qa.call({ q: "Q1" });
    await call;
    const [parts, again] = [await partsOf(call), await partsOf(call)];
    expect(again).toEqual(parts);
    // With the starts and ends of the turn and its step.
    expect([parts[0], parts.length]).toEqual([{ type: "parts.dropped", count: 8_000 }, 1 + (many + 4 - 8_000)]);
    expect([shown(parts)[0], shown(parts).at(-2)]).toEqual([String(8_000 - 2), String(many - 1)]);
  });

  it("a slow reader of a call learns how many parts it missed since its last read", async () => {
    const gate = Promise.withResolvers<void>();
    const qa = sessionOf(async (_, { status }) => {
      await gate.promise;
      for (let index = 0; index < 2_500; index++) status(String(index));
      return { a: "" };
    });
    const call = qa.call({ q: "Q1" });
    const reader = call[Symbol.asyncIterator]();
    const read = [await reader.next(), await reader.next()];
    gate.resolve();
    await call;
    const late = await partsOf({ [Symbol.asyncIterator]: () => reader });
    expect(read.map(({ value }) => value.type)).toEqual(["turn.started", "step.started"]);
    expect(late[0]).toEqual({ type: "parts.dropped", count: 1_000 - 2 });
    expect(late.length - 1).toBe(2 + 2_500 + 2 - 1_000);
  });

  it("the parts of a call end with the turn, even if its program shows more later", async () => {
    const over = Promise.withResolvers<void>();
    const late = Promise.withResolvers<void>();
    const qa = sessionOf((_, { status }) => {
      void over.promise.then(() => status("late")).then(late.resolve);
      return { a: "" };
    });
    const call = qa.call({ q: "Q1" });
    await partsOf(call);
    over.resolve();
    await late.promise;
    expect((await partsOf(call)).at(-1)?.type).toBe("turn.ended");
  });

  it("end with the error where the call got no turn", async () => {
    const qa = sessionOf(() => ({ a: "" }), { overlap: "reject" });
    const call = qa.call({ q: "Q1" }, { history: { exchanges: [], as: "never" as "override" } });
    await expect(partsOf(call)).rejects.toThrow(/history: as must be "override" or .* \(got "never"\)/);
    await expect(call).rejects.toBeInstanceOf(ConfigurationError);
  });

  it("end with the error where a model within got no turn", async () => {
    const program: Parameters<typeof sessionOf>[0] = async ({ q }, { ask }) => {
      const seed = [{ role: "nobody", content: "" }] as never;
      for await (const part of ask("draft", q, { seed })) throw new Error(`${part.type} was shown`);
      return { a: "" };
    };
    const qa = sessionOf(program, { llm: scriptedModel([]) });
    await expect(qa.call({ q: "Q1" })).rejects.toThrow(/seed.*nobody/);
  });
});

/** Joins texts, since a late reader gets text in one piece. */
const joined = (parts: readonly unknown[]): readonly unknown[] => {
  const all: unknown[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (Array.isArray(part) && Array.isArray(last)) all[all.length - 1] = [last[0], `${last[1]}${part[1]}`];
    else all.push(part);
  }
  return all;
};

describe("a signature", () => {
  const signature = {
    inputs: z.object({ q: z.string(), count: z.number().default(1) }),
    outputs: z.object({ a: z.string().refine((a) => a !== "wrong", "is wrong") }),
  };
  const checked = (a: string) => session(() => ({ a, more: true }), { name: "qa", signature });

  it("is held at both ends, in words, and what does not fit leaves no turn", async () => {
    const wrong = checked("wrong");
    await expect(wrong.call({ q: "Q1" })).rejects.toThrow(
      'the outputs of "qa" do not fit its signature: "a": is wrong',
    );
    // @ts-expect-error not a text
    await expect(wrong.call({ q: 3 })).rejects.toThrow(SignatureError);
    expect(await wrong.turns()).toEqual([]);
    expect((await wrong.thread.state())?.context.conversation.turns.length ?? 0).toBe(1);
    await wrong.close();
  });

  it("a signature error names the path of an issue, for schemas of any vendor and inputs that cannot be copied", async () => {
    const judging = (path: readonly unknown[] | undefined): StandardSchema<object> => ({
      "~standard": {
        version: 1,
        vendor: "other",
        // Cast: the path is one that the standard allows.
        validate: () => ({ issues: [{ message: "is wrong", ...(path === undefined ? {} : { path: path as [] }) }] }),
      },
    });
    for (const [path, said] of [
      [[{ key: "list" }, 0, { key: "q" }], 'signature: "list.0.q": is wrong'],
      [[], "signature: is wrong"],
      [undefined, "signature: is wrong"],
    ] as const) {
      const outputs = z.looseObject({});
      const odd = session(() => ({}), { name: "odd", signature: { inputs: judging(path), outputs } });
      await expect(odd.call({ q: () => "no JSON" })).rejects.toThrow(said);
      await odd.close();
    }
  });

  it("can't have what a journal can't keep, and the error says where", async () => {
    const dated = session(() => ({ at: new Date(0) }), { name: "dated" });
    await expect(dated.call({})).rejects.toThrow(/the outputs of "dated": at is a Date/);
    // @ts-expect-error no fields
    await expect(dated.call("text")).rejects.toThrow(/the inputs of "dated" are of type string/);
    await expect(dated.call([])).rejects.toThrow('the inputs of "dated" are a list; they must be an object of fields');
    // @ts-expect-error no fields
    await expect(dated.call(null)).rejects.toThrow('the inputs of "dated" are null');
    await dated.close();
  });
});

describe("a call", () => {
  it("is cancelled by its handle and by its signal, and its program hears of it", async () => {
    const heard: string[] = [];
    const qa = sessionOf(
      (_, { signal, status }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            heard.push("aborted");
            reject(new Error("too late"));
          });
          status("waiting");
        }),
    );
    const call = qa.call({ q: "Q1" });
    for await (const part of call) if (part.type === "status") call.abort("enough");
    await expect(call).rejects.toThrow(/cancelled: enough/);
    const controller = new AbortController();
    const other = qa.call({ q: "Q2" }, { signal: controller.signal });
    for await (const part of other) if (part.type === "status") controller.abort();
    await expect(other).rejects.toThrow(/cancelled/);
    expect(heard).toEqual(["aborted", "aborted"]);
    expect(await qa.count()).toBe(0);
  });

  it("ends after the hook for its turn, which may still save it", async () => {
    const order: string[] = [];
    const onTurn = async (): Promise<void> => {
      await new Promise(setImmediate);
      order.push("saved");
    };
    await sessionOf(() => ({ a: "" }), { onTurn }).call({ q: "Q1" });
    expect(order).toEqual(["saved"]);
  });

  it("is refused while another is under way, where that was chosen", async () => {
    const gate = Promise.withResolvers<void>();
    const qa = sessionOf(async () => gate.promise.then(() => ({ a: "A" })), { overlap: "reject" });
    const first = qa.call({ q: "Q1" });
    const second = qa.call({ q: "Q2" });
    await expect(second).rejects.toThrow(/busy/);
    gate.resolve();
    expect(await first).toEqual({ a: "A" });
  });

  it("under way ends with the program that it began with when that is swapped, and the journal says which was which", async () => {
    const gate = Promise.withResolvers<void>();
    const qa = sessionOf(async () => gate.promise.then(() => ({ a: "old" })), { version: "1" });
    const old = qa.call({ q: "Q1" });
    for await (const part of old) if (part.type === "step.started") break;
    qa.swap({ forward: () => ({ a: "new" }) }, { version: "beta" });
    const next = qa.call({ q: "Q2" });
    gate.resolve();
    expect([await old, await next]).toEqual([{ a: "old" }, { a: "new" }]);
    for (const q of ["Q3", "Q4"]) {
      qa.swap(() => ({ a: "newer" }));
      await qa.call({ q });
    }
    const entries = await qa.thread.exportJournal();
    const models = entries.flatMap(({ event }) => (event.type === "llm.completed" ? [event.model] : []));
    expect(models).toEqual(["qa@1", "qa@beta", "qa@beta+1", "qa@beta+2"]);
    const changes = entries.flatMap(({ event }) => (event.type === "metadata.changed" ? [event.metadata] : []));
    expect(changes).toEqual(["beta", "beta+1", "beta+2"].map((version) => ({ program: "qa", version })));
    expect(await qa.count()).toBe(4);
  });

  it.each([true, false])(
    "a call that replaces the conversation waits for earlier calls, and later calls wait for it; it fails: %s",
    async (fails) => {
      const gates = { Q1: Promise.withResolvers<void>(), anew: Promise.withResolvers<void>() };
      const seen: (readonly unknown[])[] = [];
      const qa = sessionOf(async ({ q }, { memory }) => {
        seen.push(memory.exchanges.map(({ inputs }) => inputs["q"]));
        if (q === "Q1" || q === "anew") await gates[q].promise;
        if (q === "anew" && fails) throw new Error("down");
        return { a: q };
      });
      const exchanges = [{ inputs: { q: "given" }, outputs: { a: "A" } }];
      const first = qa.call({ q: "Q1" });
      const anew = qa.call({ q: "anew" }, { history: { exchanges, as: "replaceSession" } });
      const last = qa.call({ q: "Q3" });
      for (const gate of Object.values(gates)) {
        // Calls that do not wait proceed in the meantime.
        for (let round = 0; round < 20; round++) await new Promise(setImmediate);
        gate.resolve();
      }
      await Promise.allSettled([first, anew, last]);
      expect(seen).toEqual([[], ["given"], fails ? ["Q1"] : ["given", "anew"]]);
      expect((await qa.turns()).map(({ inputs }) => inputs.q)).toEqual(fails ? ["Q1", "Q3"] : ["anew", "Q3"]);
    },
  );

  it("refuses a damaged history in words", async () => {
    const { qa } = seeing();
    const as = "useIfProvided";
    // @ts-expect-error no list
    await expect(qa.call({ q: "Q" }, { history: { as } })).rejects.toThrow(/history needs the option "exchanges"/);
    // @ts-expect-error no exchange
    await expect(qa.call({ q: "Q" }, { history: { as, exchanges: [null] } })).rejects.toThrow(
      "the inputs of exchange 1 of the history are of type undefined; they must be an object of fields",
    );
    // @ts-expect-error none
    await expect(qa.call({ q: "Q" }, { history: null })).rejects.toThrow(/history must be an object \(got null\)/);
    expect(await qa.count()).toBe(0);
  });

  it("has a history that redaction reaches", async () => {
    const { qa } = seeing();
    const history = {
      exchanges: [{ inputs: { q: "secret" }, outputs: { a: "secret" } }],
      as: "useIfProvided",
    } as const;
    await qa.call({ q: "Q1" }, { history });
    await qa.thread.redact({ turn: 1 });
    expect(JSON.stringify(await qa.thread.exportJournal())).not.toContain("secret");
  });
});

it("sessions of 20 calls each, many at once, give each call its place", async () => {
  const qa = sessionOf((_, { memory }) => ({ a: String(memory.exchanges.length) }));
  const users = Array.from({ length: Math.max(20, runs(100)) }, (_, index) => qa.user(`user ${index}`));
  const calls = users.map((user) =>
    Promise.all(Array.from({ length: 20 }, (_, index) => user.call({ q: `Q${index}` }))),
  );
  const expected = Array.from({ length: 20 }, (_, index) => ({ a: String(index) }));
  for (const answers of await Promise.all(calls)) expect(answers).toEqual(expected);
  expect((await users.at(-1)?.turns())?.map(({ inputs }) => inputs.q)).toEqual(expected.map((_, index) => `Q${index}`));
});
