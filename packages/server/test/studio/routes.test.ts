import { createHost, type HostOptions, memoryStore, type Store } from "@colloquy/host";
import { systemClock } from "@colloquy/runtime-node";
import { sequentialIds } from "@colloquy/runtime-test";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { threadServer } from "@colloquy/server";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { studioRoutes } from "../../src/studio/index.ts";
import { conversationMachine, type Message, partText } from "@colloquy/machine";
import type { ThreadPage } from "@colloquy/host";
import type {
  DifferenceView,
  EntryView,
  FoundView,
  Made,
  Page,
  PromptChange,
  PromptView,
  RunningView,
  Segment,
  Setup,
  ThreadItems,
  ThreadOverview,
  TimelineRow,
  TreeItem,
  TurnView,
  UnitItem,
  UnitView,
} from "../../src/studio/wire/wire.ts";
import { planTrip, type Trips, trips } from "./kit/trip.ts";

const store: Store = memoryStore({ clock: systemClock });
const planned: Trips = trips(store);
const server = threadServer(
  planned.host,
  {},
  await studioRoutes({ store, clock: systemClock, configurations: planned.configurations, about: "memory" }),
);

beforeAll(() => planTrip(planned.host, "trip"));
afterAll(() => planned.close());

/** Returns the status and the body, whose type the routes promise. */
const ask = async <Answer = object>(path: string, body?: object): Promise<readonly [number, Answer]> => {
  const headers = { "content-type": "application/json" };
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers };
  const response = await server.fetch(new Request(`http://localhost/studio/api/${path}`, init));
  return [response.status, (await response.json()) as Answer];
};

/** The body of a refusal, as the server promises it. */
type Refused = { readonly error: { readonly message: string; readonly code: string | null } };

const textOf = (message: Message | undefined): string => message?.parts.map(partText).join() ?? "";

const newest = async (): Promise<number> => (await ask<ThreadOverview>("thread?thread=trip"))[1].entries - 1;

describe("routes that look", () => {
  test("list the threads and say how one stands", async () => {
    const [, { threads }] = await ask<ThreadItems>("threads");
    expect(threads.at(-1)).toMatchObject({
      threadId: "trip",
      metadata: { team: "rail" },
      title: expect.stringContaining("Hamburg to Oslo"),
      place: "awaiting_approval",
      approvals: 1,
      turns: 12,
      tokens: 6_533,
      cost: null,
    });
    const [, thread] = await ask<ThreadOverview>("thread?thread=trip");
    expect(thread).toMatchObject({
      turns: 12,
      head: 12,
      place: "awaiting_approval",
      entries: (threads.at(-1)?.seq ?? 0) + 1,
    });
    expect(thread.approvals).toMatchObject([{ name: "book", digest: expect.stringMatching(/^\w+$/) }]);
  });

  test("give the timeline page by page, each entry with the state behind it", async () => {
    const [, first] = await ask<Page<TimelineRow>>("timeline?thread=trip&limit=3");
    expect(first.items).toMatchObject([
      { seq: 0, kind: "system", turn: null, place: "idle", asks: false },
      { seq: 1, kind: "user", turn: 1, place: "responding", asks: true, words: expect.stringContaining("Hamburg") },
      { seq: 2, kind: "assistant", turn: 1, place: "completed", asks: false },
    ]);
    const [, rest] = await ask<Page<TimelineRow>>(`timeline?thread=trip&from=${first.total - 1}`);
    expect(rest.items).toMatchObject([{ type: "tool.withheld", words: "book waits for approval" }]);
  });

  test("give the tree with all branches", async () => {
    const [, { items }] = await ask<Page<TreeItem>>("tree?thread=trip");
    expect(items).toHaveLength(13);
    expect(items.find(({ turn }) => turn === 6)).toMatchObject({
      depth: 1,
      begins: true,
      onPath: false,
    });
    expect(items.find(({ turn }) => turn === 5)).toMatchObject({
      names: ["before hotels"],
      onPath: true,
    });
    expect(items.at(-1)).toMatchObject({ turn: 12, isHead: true, status: "open" });
    for (const [row, { turn }] of items.entries())
      expect(await ask(`tree-row?thread=trip&turn=${turn}`)).toEqual([200, { row }]);
    expect(await ask("tree-row?thread=trip")).toEqual([200, { row: 0 }]);
  });

  test("give a turn as its calls, tools and waits, one after the other", async () => {
    const [, turn] = await ask<TurnView>("turn?thread=trip&turn=3");
    expect(turn).toMatchObject({ turn: 3, status: "completed", usage: "2 calls, 486 tokens in, 52 tokens out" });
    expect(turn.spans.map(({ kind, name, detail }) => `${kind} ${name}: ${detail}`)).toEqual([
      "model model call 1: 208 in, 12 out",
      "tool trains: ",
      "model model call 2: 278 in, 40 out",
    ]);
    expect(turn.spans.map(({ from }) => from)).toEqual([
      turn.from,
      ...turn.spans.slice(0, -1).map(({ until }) => until),
    ]);
    expect(turn.spans.at(-1)?.until).toBe(turn.until);
    expect((await ask<TurnView>("turn?thread=trip&turn=1"))[1]).toMatchObject({
      usage: "1 call, 51 tokens in, 56 tokens out",
    });
    const [, open] = await ask<TurnView>("turn?thread=trip&turn=12");
    expect(open.spans).toMatchObject([{ kind: "model" }, { kind: "wait", name: "book: approval", until: null }]);
    expect((await ask<TurnView>("turn?thread=trip&turn=8"))[1].spans).toMatchObject([
      { kind: "model", failed: true, detail: "content_filter: the provider refused this prompt, 619 in, 0 out" },
    ]);
  });

  test("say how the prompt of a call differs from that of the call before", async () => {
    const [, first] = await ask<PromptChange>("prompt-change?thread=trip&seq=3");
    expect(first).toMatchObject({ before: { turn: 1, seq: 1 }, after: { turn: 2, seq: 3 }, alike: 2 });
    expect([first.removed, first.changed, first.added.map(({ role }) => role)]).toEqual([
      [],
      [],
      ["assistant", "user"],
    ]);
    const [, later] = await ask<PromptChange>("prompt-change?thread=trip&seq=30&otherSeq=3");
    expect(later.before).toMatchObject({ seq: 3 });
    expect(later.removed.map(textOf)).toContain("What is the weather like in Oslo then?");
    expect([later.alike, later.removed.length]).toEqual([1, 3]);
    const [, shrunk] = await ask<PromptChange>("prompt-change?thread=trip&seq=30&otherSeq=9");
    for (const { before, after } of shrunk.changed) expect(after.id).toBe(before.id);
    expect([shrunk.alike, shrunk.removed.length]).toEqual([2, 8]);
    expect((await ask<Refused>("prompt-change?thread=trip&seq=1"))[1].error.code).toBe("no_call");
  });

  test("give the state behind any entry as the host has it, and what was said by then", async () => {
    for (let seq = 0; seq <= (await newest()); seq += 1) {
      const state = await planned.host.thread("trip").at(seq);
      const [, entry] = await ask<EntryView>(`entry?thread=trip&seq=${seq}`);
      expect(JSON.stringify(state.value)).toContain(entry.place);
      const [, said] = await ask<Page<Message>>(`said?thread=trip&seq=${seq}&limit=500`);
      expect(said.total).toBe(said.items.length);
      const [, end] = await ask<Page<Message>>(`said?thread=trip&seq=${seq}&limit=1`);
      expect(end).toEqual({ total: said.total, from: Math.max(said.total - 1, 0), items: said.items.slice(-1) });
    }
  });

  test("explain the prompt of each call: what was sent, and what another policy would send", async () => {
    const [, { items }] = await ask<Page<TimelineRow>>("timeline?thread=trip&limit=500");
    const calls = items.filter(({ asks }) => asks);
    expect(calls.length).toBeGreaterThan(10);
    for (const { seq } of calls) {
      const [, prompt] = await ask<PromptView>(`prompt?thread=trip&seq=${seq}`);
      const [, units] = await ask<Page<UnitItem>>(`units?thread=trip&seq=${seq}&limit=500`);
      expect(prompt.call.seq).toBe(seq);
      expect(prompt.configured).toBe(true);
      const sent = units.items.reduce((sum, { sentTokens }) => sum + (sentTokens ?? 0), 0);
      expect(sent + (prompt.besideTokens ?? 0)).toBe(prompt.tokens);
      expect(prompt.tokens).toBe(prompt.call.reported ?? prompt.tokens);
      expect(prompt.sent.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(sent);
      expect(prompt.whole.reduce((sum, { units }) => sum + units, 0)).toBe(units.total);
      expect(Object.values(prompt.counts).reduce((sum, count) => sum + count, 0)).toBe(units.total);
      const whole = units.items.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0);
      expect(prompt.whole.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(whole);
      expect(prompt.call.tools).toEqual(["weather", "trains", "book"]);
    }
    const last = calls.at(-1)?.seq ?? 0;
    const [, prompt] = await ask<PromptView>(`prompt?thread=trip&seq=${last}`);
    expect(prompt).toMatchObject({ budget: { tokens: 900, reserve: 200 }, available: 700, fits: true });
    expect(prompt.counts.out).toBeGreaterThan(3);
    expect(prompt.counts.shrunk).toBeGreaterThan(0);
    const kindsOf = (segments: readonly Segment[]): string =>
      segments.map(({ kind, units }) => `${units} ${kind}`).join(", ");
    expect([prompt.sent, prompt.whole].map(kindsOf)).toEqual([
      "1 system, 1 whole, 1 whole, 1 whole, 1 shrunk, 1 whole, 2 whole, 2 whole, 1 whole, 2 whole, 2 whole, 2 whole, 1 open",
      "1 system, 2 out, 3 out, 1 whole, 1 out, 1 whole, 1 whole, 1 shrunk, 1 whole, 2 whole, 2 whole, 1 whole, 2 whole, 2 whole, 2 whole, 1 open",
    ]);
    const [, other] = await ask<PromptView>(`prompt?thread=trip&seq=${last}&policy=the%20last%202%20turns`);
    expect(other).toMatchObject({ policy: "last-turns@1", configured: false });
    const [, { items: left }] = await ask<Page<UnitItem>>(`units?thread=trip&seq=${last}&from=1&limit=1`);
    expect(left).toMatchObject([
      { turn: "1", shown: "out", rule: "older", why: "older than what fits into 700 tokens" },
    ]);
    const [, unit] = await ask<UnitView>(`unit?thread=trip&seq=${last}&from=1`);
    expect(unit).toMatchObject({ messages: [{ role: "user" }], sent: [] });
  });

  test("say which turn an entry belongs to: between turns, the one to go on from", async () => {
    const turnAt = async (seq: number): Promise<number | null> =>
      (await ask<EntryView>(`entry?thread=trip&seq=${seq}`))[1].turn;
    expect([await turnAt(0), await turnAt(1), await turnAt(17), await turnAt(21)]).toEqual([null, 1, 5, 7]);
  });

  test("say of an entry which state it came in, and which it left", async () => {
    const [, { items }] = await ask<Page<TimelineRow>>("timeline?thread=trip&limit=500");
    for (const { seq, place } of items) {
      const [, entry] = await ask<EntryView>(`entry?thread=trip&seq=${seq}`);
      expect(entry).toMatchObject({ came: items[seq - 1]?.place ?? null, place, entries: items.length });
    }
  });

  test("compare any two entries", async () => {
    const [, { difference, alike, left, right }] = await ask<DifferenceView>(
      "difference?thread=trip&seq=19&other=trip&otherSeq=22",
    );
    expect(difference).toMatchObject({ before: 19, after: 22, left: [6], entered: [7] });
    expect(textOf(left[0])).toContain("hotels near");
    expect(textOf(right[0])).toContain("night train");
    expect(alike).toBeGreaterThan(5);
  });

  test("refuse a cursor that no page gave", async () => {
    const [status, { error }] = await ask<Refused>("threads?after=abc");
    expect([status, error.message]).toEqual([
      400,
      expect.stringContaining('after is "abc"; it must be the next of a page'),
    ]);
  });

  test("draw the chart of the machine: each arrow leads from one of its states to another", async () => {
    const [, { chart }] = await ask<Setup>("setup");
    const states = chart.states.flatMap(({ name, below }) => [name, ...below]);
    expect(states).toContain("awaiting_approval");
    expect(chart.arrows.length).toBeGreaterThan(10);
    for (const { from, to, events } of chart.arrows) {
      expect(states.filter((state) => state === from || state === to)).toHaveLength(2);
      expect(events.length).toBe(new Set(events).size);
    }
  });

  test("search what was said", async () => {
    expect((await ask("setup"))[1]).toMatchObject({ searches: true, about: "memory", models: [] });
    const [, { hits }] = await ask<FoundView>("search?words=night%20train");
    expect(hits).toMatchObject([{ threadId: "trip" }, { threadId: "trip" }]);
  });

  test("export the journal, which can be imported again", async () => {
    const response = await server.fetch(new Request("http://localhost/studio/api/export?thread=trip"));
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="trip.jsonl"');
    const lines = (await response.text()).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual(await planned.host.thread("trip").exportJournal());
  });

  test.each([
    ["thread?thread=nobody", 404, "there is no such thread"],
    ["thread", 400, "thread is missing in the query"],
    ["entry?thread=trip&seq=9999", 404, "there are entries 0 to"],
    ["entry?thread=trip&seq=-1", 400, "seq must be a whole number"],
    ["prompt?thread=trip&seq=0", 404, "no model was asked up to this entry"],
    ["turn?thread=trip&turn=99", 404, "there is no such turn"],
    ["turn?thread=trip", 404, "there is no such turn"],
    ["prompt?thread=trip&policy=none", 400, "there is no such policy"],
    ["unit?thread=trip&seq=1&from=99", 404, "the prompt has no such unit"],
    ["search", 400, "words is missing in the query"],
  ])("refuse %s", async (path, status, words) => {
    const [code, { error }] = await ask<Refused>(path);
    expect([code, error.message]).toEqual([status, expect.stringContaining(words)]);
  });
});

test("the list is read again only for threads that changed", async () => {
  const many = memoryStore({ clock: systemClock });
  const { host, configurations, close } = trips(many);
  for (const threadId of ["one", "two"]) await host.ask("Hello?", { threadId });
  await host.close();
  const reads = vi.spyOn(many, "read");
  const reading = trips(many);
  const routes = await studioRoutes({ ...reading, store: many, clock: systemClock, about: "" });
  const listing = threadServer(reading.host, {}, routes);
  const listed = async (): Promise<readonly string[]> => {
    reads.mockClear();
    await listing.fetch(new Request("http://localhost/studio/api/threads"));
    return [...new Set(reads.mock.calls.map(([threadId]) => threadId))].sort();
  };
  expect([await listed(), await listed()]).toEqual([["one", "two"], []]);
  await configurations[1].host.ask("And now?", { threadId: "two" });
  expect([await listed(), await listed()]).toEqual([["two"], []]);
  await Promise.all([reading.close(), close()]);
});

describe("the answer that a model is writing", () => {
  const written = async (options: Partial<HostOptions>, unreadable = false): Promise<RunningView | null> => {
    const pieces = ["Once ", "upon ", "a time"];
    const shared = memoryStore({ clock: systemClock });
    if (unreadable && shared.parts !== undefined)
      vi.spyOn(shared.parts, "read").mockResolvedValue([{ turn: 1, token: 1, number: 1, body: "no list" }]);
    const { promise: isWritten, resolve: write } = Promise.withResolvers<void>();
    const host = createHost({
      store: shared,
      clock: systemClock,
      ids: sequentialIds(),
      machine: conversationMachine(),
      llm: (_, { onDelta, signal }) => {
        for (const text of pieces) onDelta({ type: "text", text });
        write();
        return new Promise((__, reject) => signal.addEventListener("abort", () => reject(new Error("it was stopped"))));
      },
      ...options,
    });
    host.ask("Tell me.", { threadId: "told" }).catch(() => null);
    await isWritten;
    const elsewhere = trips(shared);
    const startedAt = (await host.thread("told").state())?.context.open?.startedAt ?? Number.NaN;
    const clock = { ...systemClock, now: () => startedAt + 3_000 };
    const routes = await studioRoutes({ ...elsewhere, store: shared, clock, about: "" });
    const looking = threadServer(elsewhere.host, {}, routes);
    const look = async (): Promise<RunningView | null> => {
      const response = await looking.fetch(new Request("http://localhost/studio/api/running?thread=told"));
      // Cast: the route promises this type.
      return ((await response.json()) as { readonly running: RunningView | null }).running;
    };
    if (options.partsMs !== undefined || options.progressMs !== undefined)
      await expect.poll(async () => (await look())?.text).toBe(pieces.join(""));
    const running = await look();
    await host.thread("told").cancel();
    expect(await look()).toBeNull();
    await Promise.all([host.close(), elsewhere.close()]);
    return running;
  };

  test.each([
    ["the log of parts", { partsMs: 1 }, "Once upon a time", false],
    ["the journal", { progressMs: 1 }, "Once upon a time", false],
    ["the journal, where the log of parts can't be read", { progressMs: 1, partsMs: 1 }, "Once upon a time", true],
    ["neither, where hosts keep none", {}, "", false],
  ])("is read from %s", async (_, options, text, unreadable) => {
    expect(await written(options, unreadable)).toEqual({ turn: 1, text, forMs: 3_000 });
  });
});

test("the prompt of a call is explained by its own configuration, or by the first one if its own is not here", async () => {
  const own = memoryStore({ clock: systemClock });
  const { host, configurations, close } = trips(own);
  const elsewhere = createHost({
    llm: scriptedModel([reply("Hi.")]),
    store: own,
    clock: systemClock,
    ids: sequentialIds(),
    machine: conversationMachine(),
  });
  const routes = await studioRoutes({ store: own, clock: systemClock, configurations, about: "" });
  const looking = threadServer(host, {}, routes);
  for (const [threadId, asked, configured] of [
    ["first", host, true],
    ["second", configurations[1].host, true],
    ["other", elsewhere, false],
  ] as const) {
    await asked.ask("Hello?", { threadId });
    const response = await looking.fetch(new Request(`http://localhost/studio/api/prompt?thread=${threadId}&seq=1`));
    expect(await response.json()).toMatchObject({ configured, call: { turn: 1, step: 1 } });
  }
  await Promise.all([elsewhere.close(), close()]);
});

test("the prompt of a call is compared with that of the entry before, if the reply to that called no known tool", async () => {
  const own = memoryStore({ clock: systemClock });
  const { configurations, close } = trips(own);
  const host = createHost({
    llm: scriptedModel([toolCalls([{ name: "no_such_tool", arguments: {} }]), reply("Hi.")]),
    store: own,
    clock: systemClock,
    ids: sequentialIds(),
    machine: conversationMachine(),
  });
  await host.ask("Hello?", { threadId: "t" });
  const routes = await studioRoutes({ store: own, clock: systemClock, configurations, about: "" });
  const looking = threadServer(host, {}, routes);
  const response = await looking.fetch(new Request("http://localhost/studio/api/prompt-change?thread=t&seq=2"));
  expect(await response.json()).toMatchObject({ before: { step: 1, seq: 1 }, after: { step: 2, seq: 2 } });
  await Promise.all([host.close(), close()]);
});

test("nobody sees a thread that is not theirs", async () => {
  const routes = await studioRoutes({ store, clock: systemClock, configurations: planned.configurations, about: "" });
  const guarded = threadServer(planned.host, { mayUse: (_, threadId) => threadId !== "trip" }, routes);
  await planned.host.ask("Hello?", { threadId: "mine" });
  const seen = async (path: string): Promise<string> =>
    (await guarded.fetch(new Request(`http://localhost/studio/api/${path}`))).text();
  const { threads } = JSON.parse(await seen("threads")) as ThreadPage;
  expect(threads.map(({ threadId }) => threadId)).toEqual(["mine"]);
  expect(await seen("search?words=trip")).not.toContain("Oslo");
  for (const path of [
    "thread?thread=trip",
    "timeline?thread=trip",
    "export?thread=trip",
    "difference?thread=mine&other=trip",
  ])
    expect(await seen(path)).toContain("there is no such thread");
});

test("a page of the listing is full, and its cursor names a thread that the caller may use", async () => {
  const many = memoryStore({ clock: systemClock });
  const { host, configurations, close } = trips(many);
  // Two of bob's threads are between any two of ada's.
  for (let index = 0; index < 120; index += 1)
    for (const owner of ["ada", "bob", "bob"])
      await host.thread(`${owner}-${index}-${crypto.randomUUID()}`).start({ system: "A word." });
  const guarded = threadServer(
    host,
    { mayUse: (_, threadId) => threadId.startsWith("ada-"), threadPrefix: () => "ada-" },
    await studioRoutes({ store: many, clock: systemClock, configurations, about: "" }),
  );
  const asked = async <Answer>(path: string, init: RequestInit = {}): Promise<Answer> =>
    // Cast: the routes promise these types.
    (await guarded.fetch(new Request(`http://localhost/studio/api/${path}`, init))).json() as Promise<Answer>;
  const first = await asked<ThreadPage>("threads");
  const rest = await asked<ThreadPage>(`threads?after=${encodeURIComponent(first.next ?? "")}`);
  expect([first.threads.length, rest.threads.length, rest.next]).toEqual([100, 20, null]);
  expect(new Set([...first.threads, ...rest.threads].map(({ threadId }) => threadId)).size).toBe(120);
  expect(JSON.stringify([first, rest])).not.toContain("bob-");
  const found = await asked<FoundView>("search?words=word");
  expect([new Set(found.hits.map(({ threadId }) => threadId)).size, found.hasMore]).toEqual([50, true]);
  expect(JSON.stringify(found)).not.toContain("bob-");
  const [{ threadId } = { threadId: "" }] = first.threads;
  const body = JSON.stringify({ turn: 0 });
  const post = { method: "POST", body, headers: { "content-type": "application/json" } };
  expect((await asked<Made>(`fork?thread=${threadId}`, post)).threadId).toMatch(/^ada-fork_/);
  await close();
});

describe("routes that do something", () => {
  const answered = async (threadId: string): Promise<string> => {
    const thread = planned.host.thread(threadId);
    for (const { askId } of await thread.asks()) await thread.rejoin(askId).catch(() => null);
    return (await ask<ThreadOverview>(`thread?thread=${threadId}`))[1].place;
  };

  test("answer an approval only as it was shown", async () => {
    const [, { approvals }] = await ask<ThreadOverview>("thread?thread=trip");
    const { id, digest } = approvals[0] ?? { id: "", digest: "" };
    const [code, { error }] = await ask<Refused>("approval?thread=trip", { id, digest: "another", approve: true });
    expect([code, error.code]).toEqual([400, "invalid"]);
    expect(await ask("approval?thread=trip", { id, digest, approve: true })).toEqual([200, {}]);
    expect(await answered("trip")).toBe("completed");
    const [, { items }] = await ask<Page<TimelineRow>>("timeline?thread=trip&limit=500");
    expect(items.map(({ words }) => words)).toContain("book approved by studio");
  });

  test("fork a thread, and try a turn again under another policy, by another model and with other words", async () => {
    const [, fork] = await ask<Made>("fork?thread=trip", { turn: 3 });
    expect((await ask<ThreadOverview>(`thread?thread=${fork.threadId}`))[1]).toMatchObject({
      turns: 3,
      forkedFrom: { threadId: "trip", turn: 3 },
    });
    const [, same] = await ask<Made>("again?thread=trip", { turn: 10, policy: "the last 2 turns", model: "large" });
    expect(await answered(same.threadId)).toBe("completed");
    const [, { items }] = await ask<Page<TimelineRow>>(`timeline?thread=${same.threadId}&limit=500`);
    const call = items.findLast(({ asks }) => asks);
    expect(call?.words).toContain("Summarise the plan so far");
    const [, prompt] = await ask<PromptView>(`prompt?thread=${same.threadId}&seq=${call?.seq}`);
    expect(prompt).toMatchObject({ policy: "last-turns@1", call: { model: { model: "large" } } });
    const [, other] = await ask<Made>("again?thread=trip", { turn: 10, input: "Say it in one word." });
    expect(await answered(other.threadId)).toBe("completed");
    expect(textOf((await ask<Page<Message>>(`said?thread=${other.threadId}&limit=500&from=0`))[1].items.at(-2))).toBe(
      "Say it in one word.",
    );
    expect((await ask<Made>("again?thread=trip", { turn: 99 }))[0]).toBe(404);
    expect((await ask<Made>("again?thread=trip", { turn: 1, policy: "none" }))[0]).toBe(400);
  });
});
