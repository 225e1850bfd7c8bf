import { messagesOf, type SeedDraft } from "@colloquy/machine";
import { seedArbitrary, textArbitrary } from "@colloquy/runtime-test/arbitraries";
import { openSearchServer, type OpenSearchServer } from "@colloquy/runtime-test/opensearch";
import { fc, test as property } from "@fast-check/vitest";
import * as Either from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, importMemory, memoryTexts, openSearchMirror } from "../../src/opensearch/index.ts";
import { breaking, stageWith } from "./stage.ts";
import { runs } from "../../../../test/runs.ts";

const right = async <Value>(answer: Answer<Value>): Promise<Value> => {
  const read = await answer;
  if (Either.isLeft(read)) throw new Error(read.left.reason);
  return read.right;
};

const said = (role: "user" | "assistant", content: string): SeedDraft => ({ role, content });
const pair = (number: number) => [said("user", `H${number}`), said("assistant", `A${number}`)];
const round: readonly SeedDraft[] = [
  said("user", "Weather?"),
  {
    role: "assistant",
    content: "Let me see.",
    toolCalls: [{ id: "c", name: "weather", arguments: '{"city":"Oslo"}' }],
  },
  { role: "tool", toolCallId: "c", content: "sun" },
  said("assistant", "Sunny."),
];

describe.each(["2.11", "3.0"] as const)("on OpenSearch %s", (version) => {
  let server: OpenSearchServer;
  beforeAll(async () => (server = await openSearchServer({ version })));
  afterAll(() => server.close());

  let threads = 0;
  const begun = () => {
    const client = breaking(server.url, version);
    const stage = stageWith(client.memory);
    const id = `thread ${threads++}`;
    return { ...stage, client, id, thread: stage.host.thread(id) };
  };
  const messagesIn = async ({ thread }: Pick<ReturnType<typeof begun>, "thread">) => {
    const state = await thread.state();
    return state === null ? [] : messagesOf(state);
  };
  const memoriesNamed = async ({ client, id }: Pick<ReturnType<typeof begun>, "client" | "id">) => {
    const all: string[] = [];
    for (let from: number | null = 0; from !== null;) {
      const page: Awaited<ReturnType<typeof client.memory.memories>> = await client.memory.memories(from);
      if (Either.isLeft(page)) throw new Error(page.left.reason);
      all.push(...page.right.items.filter(({ name }) => name === id).map((each) => each.id));
      from = page.right.next;
    }
    return all;
  };

  test.for([
    [said("user", "H1"), said("user", "H2"), said("assistant", "A1")],
    [said("assistant", "A1"), said("user", "H1")],
    [{ role: "system", content: "S" }, said("user", "H1"), said("assistant", "A1")],
    [said("user", "H1"), said("assistant", "A1"), said("user", "H2")],
    [...pair(1), ...pair(2)],
    round,
  ] satisfies (readonly SeedDraft[])[])("messages come back in their order (cases 59, 60, 68) %#", async (drafts) => {
    for (const turns of [[drafts], ...(drafts === round ? [] : [drafts.map((draft) => [draft])])]) {
      const at = begun();
      for (const turn of turns) await at.thread.addTurn(turn);
      const { memoryId } = await right(at.mirror.sync(at.id));
      expect(await right(at.mirror.messages(memoryId ?? ""))).toEqual(await messagesIn(at));
      await at.client.close();
    }
  });

  test("other programs read a pair for each question and answer (case 61)", async () => {
    const at = begun();
    await at.thread.addTurn([...pair(1), ...pair(2)]);
    await at.thread.addTurn(round);
    await at.thread.addTurn([said("user", "H3")]);
    const { memoryId } = await right(at.mirror.sync(at.id));
    const messages = await right(at.client.memory.conversation(memoryId ?? ""));
    expect(messages.map(({ input, response }) => [input, response])).toEqual([
      ["H1", "A1"],
      ["H2", "A2"],
      ["Weather?", "Sunny."],
      ["H3", undefined],
    ]);
    await at.client.close();
  });

  test.for<readonly [drafts: readonly SeedDraft[], pairs: readonly (readonly string[])[]]>([
    [[said("user", "Q1"), said("assistant", "A1")], [["Q1", "A1"]]],
    [
      [{ role: "system", content: "S" }, said("user", "Q1"), said("assistant", "A1"), said("user", "Q2")],
      [["Q1", "A1"]],
    ],
    [[said("user", "Q1")], []],
  ])("unanswered and system messages are in no pair (case 61) %#", async ([drafts, pairs]) => {
    const at = begun();
    await at.thread.addTurn(drafts);
    const { memoryId } = await right(at.mirror.sync(at.id));
    const messages = await right(at.client.memory.conversation(memoryId ?? ""));
    const whole = messages.flatMap(({ input, response }) =>
      input === undefined || response === undefined ? [] : [[input, response]],
    );
    expect(whole).toEqual(pairs);
    await at.client.close();
  });

  test("nothing is written twice, and new messages are added", async () => {
    const at = begun();
    await at.thread.addTurn(pair(1));
    const first = await right(at.mirror.sync(at.id));
    await at.thread.addTurn(pair(2));
    expect(await right(at.mirror.sync(at.id))).toEqual({ memoryId: first.memoryId, written: 1, deleted: 0 });
    expect(await right(at.mirror.sync(at.id))).toEqual({ memoryId: first.memoryId, written: 0, deleted: 0 });
    await at.client.close();
  });

  test("clear begins a new memory (case 62), undo continues in another, and redo in the first", async () => {
    const at = begun();
    for (const number of [1, 2]) await at.thread.addTurn(pair(number));
    const first = await right(at.mirror.sync(at.id));
    await at.thread.clear();
    expect(await right(at.mirror.sync(at.id))).toMatchObject({ memoryId: null, written: 0 });
    await at.thread.addTurn(pair(3));
    const second = await right(at.mirror.sync(at.id));
    expect(second.memoryId).not.toBe(first.memoryId);
    expect(await right(at.mirror.messages(second.memoryId ?? ""))).toEqual(await messagesIn(at));
    await at.thread.moveHead(2);
    expect(await right(at.mirror.sync(at.id))).toEqual({ memoryId: first.memoryId, written: 0, deleted: 0 });
    await at.thread.undo();
    await at.thread.addTurn(pair(4));
    expect(await right(at.mirror.sync(at.id))).toMatchObject({ written: 2 });
    expect(await memoriesNamed(at)).toHaveLength(3);
    await at.client.close();
  });

  test("redaction and deletion remove a thread's words from all memories", async () => {
    const at = begun();
    await at.thread.addTurn([said("user", "my PIN is 1234"), said("assistant", "Noted.")]);
    await at.thread.addTurn(pair(2));
    await right(at.mirror.sync(at.id));
    await at.thread.redact({ turn: 1 });
    const { memoryId, ...done } = await right(at.mirror.sync(at.id));
    expect(done).toEqual({ written: 2, deleted: 1 });
    const messages = await right(at.mirror.messages(memoryId ?? ""));
    expect(messages).toEqual(await messagesIn(at));
    expect(JSON.stringify(messages)).not.toContain("PIN");
    expect(await memoriesNamed(at)).toHaveLength(1);
    await at.thread.delete();
    expect(await right(at.mirror.sync(at.id))).toEqual({ memoryId: null, written: 0, deleted: 1 });
    expect(await memoriesNamed(at)).toEqual([]);
    await at.client.close();
  });

  test("a memory is found although another is deleted while the list of all is read", async () => {
    const at = begun();
    await at.thread.addTurn(pair(1));
    await right(at.mirror.sync(at.id));
    await at.thread.delete();
    const newer: string[] = [];
    // It is the first of the third page until a memory of an earlier page is deleted.
    while (newer.length < 200) newer.push(await right(at.client.memory.create("theirs")));
    const memory = {
      ...at.client.memory,
      memories: async (from: number) => {
        const [gone] = from < 150 ? [] : newer.splice(0, 1);
        if (gone !== undefined) await right(at.client.memory.remove(gone));
        return at.client.memory.memories(from);
      },
    };
    const mirror = openSearchMirror({ memory, store: at.store });
    expect(await right(mirror.sync(at.id))).toMatchObject({ deleted: 1 });
    await at.client.close();
  });

  test.each([true, false])("a crash at any request loses and repeats nothing (carried out: %s)", async (carriesOut) => {
    let broke = true;
    for (let requests = 0; broke; requests += Math.ceil(4 / runs(4))) {
      const at = begun();
      await at.thread.addTurn(pair(1));
      await at.thread.addTurn([said("user", "secret")]);
      await right(at.mirror.sync(at.id));
      await at.thread.redact({ turn: 2 });
      await at.thread.addTurn(round);
      at.client.breakAfter(requests, { carriesOut });
      broke = Either.isLeft(await at.mirror.sync(at.id));
      at.client.mend();
      const { memoryId } = await right(at.mirror.sync(at.id));
      expect(await right(at.mirror.messages(memoryId ?? ""))).toEqual(await messagesIn(at));
      expect(await right(at.client.memory.conversation(memoryId ?? ""))).toHaveLength(3);
      expect(await memoriesNamed(at)).toEqual([memoryId]);
      await at.client.close();
      expect(requests).toBeLessThan(30);
    }
  });

  test("a foreign memory is imported without ghosts, in the order of its writing (case 68)", async () => {
    const at = begun();
    const memoryId = await right(at.client.memory.create("theirs"));
    for (const draft of [{ input: "H1", response: "A1" }, { input: "H2" }, { response: "A2" }, { origin: "x" }])
      await right(at.client.memory.add(memoryId, draft));
    expect((await right(memoryTexts(at.client.memory, memoryId))).map(({ text }) => text)).toEqual([
      "H1",
      "A1",
      "H2",
      "A2",
    ]);
    const thread = await at.host.importMessages(await right(importMemory(at.client.memory, memoryId)));
    expect((await messagesIn({ thread })).map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    await at.client.close();
  });

  test("a mirrored memory is imported with its calls", async () => {
    const at = begun();
    await at.thread.addTurn(round);
    const { memoryId } = await right(at.mirror.sync(at.id));
    const copy = await at.host.importMessages(await right(importMemory(at.client.memory, memoryId ?? "")));
    const shapes = (messages: Awaited<ReturnType<typeof messagesIn>>) => messages.map(({ digest }) => digest);
    expect(shapes(await messagesIn({ thread: copy }))).toEqual(shapes(await messagesIn(at)));
    await at.client.close();
  });

  property.prop(
    [fc.array(seedArbitrary(["f"]), { maxLength: 3 }), textArbitrary.filter((text) => text !== "" && text !== "new")],
    { numRuns: runs(25) },
  )("all messages come back unchanged", async (turns, name) => {
    const client = breaking(server.url, version);
    const { host, mirror } = stageWith(client.memory);
    const id = `${name}${threads++}`;
    const thread = host.thread(id);
    for (const drafts of turns) if (drafts.length > 0) await thread.addTurn(drafts);
    const { memoryId } = await right(mirror.sync(id));
    const messages = await messagesIn({ thread });
    expect(memoryId === null ? [] : await right(mirror.messages(memoryId))).toEqual(messages);
    expect(await right(mirror.sync(id))).toEqual({ memoryId, written: 0, deleted: 0 });
    await client.close();
  });
});
