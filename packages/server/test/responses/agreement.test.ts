import { type VirtualClock, virtualClock } from "@colloquy/runtime-test";
import { fails, scriptedModel, type ScriptLine, streams } from "@colloquy/runtime-test/models";
import type { LlmHandler } from "@colloquy/host";
import fc from "fast-check";
import type OpenAI from "openai";
import { expect, test } from "vitest";
import { createHost, type Host, memoryStore } from "@colloquy/runtime-node";
import { runs } from "../../../../test/runs.ts";
import type { ThreadServer } from "../../src/index.ts";
import {
  approvalOf,
  lookUp,
  outputOf,
  refund,
  type Responding,
  respondingOf,
  streamed,
  weather,
} from "./responding.ts";

type Event = OpenAI.Responses.ResponseStreamEvent;
type Input = OpenAI.Responses.ResponseInput;

const word = fc.constantFrom("It ", "rains ", "in Oslo ", "today. ", "<b>é</b>");
const said = fc.oneof(
  { weight: 3, arbitrary: word.map((text) => ({ text })) },
  word.map((reasoning) => ({ reasoning })),
  word.map((refusal) => ({ refusal })),
);
const call = fc.constantFrom(
  { toolCall: { name: "weather", arguments: { city: "Oslo" } } },
  { toolCall: { name: "weather", arguments: { city: 7 } } },
  { toolCall: { name: "refund", arguments: { order: "A1" } } },
  { toolCall: { name: "look_up", arguments: { id: "7" } } },
  { toolCall: { name: "no_such_tool", arguments: {} } },
);
/** The usage of a call, which may report only one side. */
const reported = fc
  .record({ inputTokens: fc.nat(50), outputTokens: fc.nat(50) })
  .map(({ inputTokens, ...other }) => (inputTokens % 3 === 0 ? other : { inputTokens, ...other }));
const usage = fc.option(reported, { nil: undefined });
const withCalls = fc
  .tuple(fc.array(said, { maxLength: 4 }), fc.array(call, { minLength: 1, maxLength: 4 }), usage)
  .map(([pieces, calls, used]) => streams([...pieces, ...calls], used === undefined ? {} : { usage: used }));
const failing = fc
  .array(said, { maxLength: 3 })
  .map((partial) => fails({ kind: "overloaded", message: "busy" }, { partial }));
const answering = fc
  .tuple(fc.array(said, { minLength: 1, maxLength: 5 }), fc.constantFrom("stop", "length"), usage)
  .map(([pieces, finishReason, used]) =>
    streams(pieces, { finishReason, ...(used === undefined ? {} : { usage: used }) }),
  );
const broken = fc.array(said, { maxLength: 3 }).map((partial) => fails({ kind: "auth", message: "no" }, { partial }));

/** The model calls of one turn. */
const script: fc.Arbitrary<readonly ScriptLine[]> = fc
  .tuple(
    fc.array(fc.oneof({ weight: 3, arbitrary: withCalls }, failing), { maxLength: 4 }),
    fc.oneof({ weight: 4, arbitrary: answering }, broken),
  )
  .map(([lines, last]) => [...lines, last]);

const turns = fc.tuple(
  fc.array(script, { minLength: 1, maxLength: 2 }),
  fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
);

/** Turns of one reply each, so that each end is seen, whatever is drawn. */
const ends: readonly (readonly [readonly (readonly ScriptLine[])[], readonly boolean[]])[] = [
  streams([{ text: "It rains." }]),
  streams([{ text: "It " }], { finishReason: "length" }),
  fails({ kind: "auth", message: "no" }),
].map((line) => [[[line]], [true]]);

/** Returns the events of a stream, with the errors at which the SDK would throw. */
const eventsOf = async (server: ThreadServer, path: string, body?: object, first = 0): Promise<readonly Event[]> => {
  const events = await streamed(server, path, body);
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => first + index));
  return events;
};

const finalOf = (events: readonly Event[]): OpenAI.Responses.Response => {
  const last = events.at(-1);
  if (last === undefined || !("response" in last)) throw new Error(`a stream ended with ${JSON.stringify(last)}`);
  return last.response;
};

/** Returns the joined deltas and the final text of each item, by its place in the output. */
const itemsIn = (events: readonly Event[]) => {
  const deltas = new Map<number, string>();
  const done = new Map<number, string>();
  for (const event of events) {
    if ("delta" in event && "output_index" in event && typeof event.delta === "string")
      deltas.set(event.output_index, (deltas.get(event.output_index) ?? "") + event.delta);
    if (event.type === "response.output_text.done" || event.type === "response.reasoning_summary_text.done")
      done.set(event.output_index, event.text);
    if (event.type === "response.refusal.done") done.set(event.output_index, event.refusal);
    if (event.type === "response.function_call_arguments.done" || event.type === "response.mcp_call_arguments.done")
      done.set(event.output_index, event.arguments);
  }
  return { deltas, done };
};

/** Answers all calls and approvals that a response waits for. */
const answersTo = (response: OpenAI.Responses.Response, approve: () => boolean): Input =>
  response.output.flatMap((item): Input => {
    if (item.type === "function_call") return [outputOf(item.call_id, "Ada")];
    return item.type === "mcp_approval_request" ? [approvalOf(item.id, approve())] : [];
  });

/** Removes the SDK's addition and the start time of a leg, which only the starting process knows. */
const comparable = ({ created_at: _, output_text: __, ...response }: OpenAI.Responses.Response) => response;

const checkLeg = async (host: Host, live: readonly Event[]): Promise<void> => {
  const { deltas, done } = itemsIn(live);
  expect(deltas).toEqual(new Map([...done].filter(([, text]) => text !== "")));
  await checkFinal(host, finalOf(live));
};

const checkFinal = async (host: Host, final: OpenAI.Responses.Response): Promise<void> => {
  // Another process, which has shown none of it.
  const { client, server } = respondingOf(host);
  expect(comparable(await client.responses.retrieve(final.id))).toEqual(comparable(final));
  const replayed = await eventsOf(server, `/v1/responses/${final.id}?stream=true`);
  expect(comparable(finalOf(replayed))).toEqual(comparable(final));
  expect(itemsIn(replayed).done.size).toBe(final.output.filter(({ type }) => type !== "mcp_approval_request").length);
};

test("what a client was shown is what the journal gives another process, leg by leg", async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(turns, async ([scripts, approvals]) => {
      const llm = scriptedModel(scripts.flat());
      const machine = { retry: { attempts: 6, baseDelayMs: 0, maxDelayMs: 0 } };
      const host = createHost({ llm, store: memoryStore(), tools: [weather, refund], machine });
      const { server } = respondingOf(host);
      let decisions = 0;
      let previous: string | null = null;
      for (const number of scripts.keys()) {
        let input: string | Input = `Go on, ${number}`;
        while (input.length > 0) {
          const asked = { model: "any", tools: [lookUp], previous_response_id: previous, input, stream: true } as const;
          const events = await eventsOf(server, "/v1/responses", asked);
          const final = finalOf(events);
          seen.set(final.status ?? "", (seen.get(final.status ?? "") ?? 0) + 1);
          await checkLeg(host, events);
          previous = final.id;
          input = answersTo(final, () => approvals[decisions++ % approvals.length] === true);
        }
      }
      llm.assertComplete();
      await host.close();
    }),
    { numRuns: runs(160), examples: ends.map((turn) => [turn]) },
  );
  expect([...seen.keys()].toSorted()).toEqual(["completed", "failed", "incomplete"]);
});

/** The way in which a client asks for a response, and acts on it while it is under way. */
const way = fc.record({
  server: fc.nat(1),
  by: fc.constantFrom("post", "stream", "background", "background stream"),
  reader: fc.nat(1),
  acts: fc.array(
    fc.record({
      server: fc.nat(1),
      act: fc.constantFrom("read", "read", "list input items", "cancel", "cut the stream", "cut the stream"),
      events: fc.nat(6),
      resumer: fc.nat(1),
      afterMs: fc.constantFrom(0, 50, 400),
    }),
    { maxLength: 3 },
  ),
  /** The earlier response that the next turn continues; null for the head of the conversation. */
  from: fc.option(fc.nat(5), { freq: 2 }),
});

type Way = typeof way extends fc.Arbitrary<infer Value> ? Value : never;

const shared = fc.record({
  turns,
  ways: fc.array(way, { minLength: 10, maxLength: 10 }),
  partsMs: fc.constantFrom(null, 30),
  /** The model's delay before its first output. */
  thinksMs: fc.constantFrom(0, 0, 900, 20_000),
});

type Shared = typeof shared extends fc.Arbitrary<infer Value> ? Value : never;

/** Each turn is asked by a POST, whose answer is read from it. */
const asks: Omit<Shared, "turns"> = {
  ways: [{ server: 0, by: "post", reader: 1, acts: [], from: null }],
  partsMs: null,
  thinksMs: 0,
};

/** A case that is seldom drawn: a response is cancelled while the model thinks. */
const cancelled: Shared = {
  turns: [[[streams([{ text: "It rains." }])]], [true]],
  ways: [
    {
      server: 0,
      by: "background",
      reader: 1,
      acts: [{ server: 1, act: "cancel", events: 0, resumer: 0, afterMs: 50 }],
      from: null,
    },
  ],
  partsMs: null,
  thinksMs: 20_000,
};

/** Lets up to `ms` milliseconds pass until a promise has settled. */
const inTime = async <Value>(clock: VirtualClock, promise: Promise<Value>, ms = 200_000): Promise<Value> => {
  let isSettled = false;
  const settled = promise.finally(() => (isSettled = true));
  settled.catch(() => {});
  for (const until = clock.now() + ms; !isSettled && clock.now() < until;) await clock.advance(50);
  if (!isSettled) throw new Error(`it takes more than ${ms} ms`);
  return settled;
};

/** Longer than a server needs to see another one's writes, but shorter than a model that thinks. */
const atOnceMs = 2_000;

type Server = Omit<Responding, "host">;

/** Reads a response on one server, stops, and continues with `starting_after`. */
class BrokenOffReader {
  readonly #clock: VirtualClock;
  /** The number of events that were read on each server. */
  readonly #read = new Map<Server, number>();

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** Reads up to `count` of the existing events on one server, and the rest on the same or another one. */
  async read(id: string, count: number, from: Server, to: Server): Promise<void> {
    const there = await inTime(this.#clock, firstEvents(from, `/v1/responses/${id}?stream=true`), atOnceMs);
    this.#note(from, there.length);
    const begun = there.slice(0, count);
    const path = `/v1/responses/${id}?stream=true&starting_after=${begun.length - 1}`;
    const isTold = begun.length <= (this.#read.get(to) ?? 0);
    const rest = await inTime(this.#clock, eventsOf(to.server, path, undefined, begun.length).catch(String));
    if (typeof rest === "string") {
      expect(rest).toContain("events_not_kept");
      return;
    }
    // A server refuses numbers that it never sent.
    expect(isTold).toBe(true);
    this.#note(to, begun.length + rest.length);
    if (from !== to) return;
    const { deltas, done } = itemsIn([...begun, ...rest]);
    expect(deltas).toEqual(new Map([...done].filter(([, text]) => text !== "")));
  }

  #note(server: Server, events: number): void {
    this.#read.set(server, Math.max(events, this.#read.get(server) ?? 0));
  }
}

/** Returns the events that already exist when a stream begins. */
const firstEvents = async ({ server }: Server, path: string): Promise<readonly Event[]> => {
  const { body } = await server.fetch(new Request(`http://localhost${path}`));
  for await (const chunk of body ?? [])
    return [...new TextDecoder().decode(chunk).matchAll(/^data: (.*)$/gmu)].map(([, event = ""]) => JSON.parse(event));
  return [];
};

const isUnderWay = ({ status }: OpenAI.Responses.Response): boolean => status === "in_progress" || status === "queued";

/** Reads, cancels and breaks off streams of a running response. The server answers at once, even if the model runs. */
const actOn = async (clock: VirtualClock, servers: readonly [Server, Server], id: string, acts: Way["acts"]) => {
  const reader = new BrokenOffReader(clock);
  for (const { server, act, events, resumer, afterMs } of acts) {
    await clock.advance(afterMs);
    const there = servers[server === 0 ? 0 : 1];
    const { responses } = there.client;
    if (act === "read") expect((await inTime(clock, responses.retrieve(id), atOnceMs)).id).toBe(id);
    else if (act === "list input items") await inTime(clock, responses.inputItems.list(id), atOnceMs);
    else if (act === "cut the stream") await reader.read(id, events, there, servers[resumer === 0 ? 0 : 1]);
    else expect(isUnderWay(await inTime(clock, responses.cancel(id), atOnceMs))).toBe(false);
  }
};

const respondedTo = async (
  clock: VirtualClock,
  servers: readonly [Server, Server],
  { server, by, reader, acts }: Way,
  asked: OpenAI.Responses.ResponseCreateParamsNonStreaming,
): Promise<OpenAI.Responses.Response> => {
  const [there, back] = [servers[server === 0 ? 0 : 1], servers[reader === 0 ? 0 : 1]];
  if (by === "post") return inTime(clock, there.client.responses.create(asked));
  if (by === "stream")
    return finalOf(await inTime(clock, eventsOf(there.server, "/v1/responses", { ...asked, stream: true })));
  const { id } = await inTime(clock, there.client.responses.create({ ...asked, background: true }), atOnceMs);
  await actOn(clock, servers, id, acts);
  if (by === "background stream")
    return finalOf(await inTime(clock, eventsOf(back.server, `/v1/responses/${id}?stream=true`)));
  for (;;) {
    const read = await inTime(clock, back.client.responses.retrieve(id), atOnceMs);
    if (!isUnderWay(read)) return read;
    await clock.advance(50);
  }
};

/** Delays each line of a turn's script. */
const thinking = (lines: readonly ScriptLine[], delayMs: number): readonly ScriptLine[] =>
  lines.map((line) => ({
    ...line,
    pieces: line.pieces.map((piece, index) => (index > 0 ? piece : { ...piece, delayMs })),
  }));

test("whichever of two servers on one store is asked, and however, a response is what the journal has, and ends", async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(shared, async ({ turns: [scripts, approvals], ways, partsMs, thinksMs }) => {
      const clock = virtualClock();
      const store = memoryStore({ clock });
      let llm = scriptedModel([]);
      const model: LlmHandler = (call, context) => llm(call, context);
      const machine = { retry: { attempts: 6, baseDelayMs: 0, maxDelayMs: 0 } };
      const hosts = ["one", "two", "reader"].map(() =>
        createHost({ llm: model, store, clock, tools: [weather, refund], machine, partsMs }),
      );
      const [one, two, reader] = hosts as [Host, Host, Host];
      const servers = [respondingOf(one, { clock }), respondingOf(two, { clock })] as const;
      let asks = 0;
      let decisions = 0;
      const responses: string[] = [];
      const { id: conversation } = await servers[0].client.conversations.create({});
      for (const [number, script] of scripts.entries()) {
        llm = scriptedModel(thinking(script, thinksMs));
        let input: string | Input = `Go on, ${number}`;
        let isCancelled = false;
        while (input.length > 0) {
          const chosen = ways[asks++ % ways.length] as Way;
          const named = typeof input !== "string" ? responses.at(-1) : responses[chosen.from ?? responses.length];
          const where = named === undefined ? { conversation } : { previous_response_id: named };
          const asked = { model: "any", tools: [lookUp], input, ...where };
          const final: OpenAI.Responses.Response = await respondedTo(clock, servers, chosen, asked);
          seen.set(final.status ?? "", (seen.get(final.status ?? "") ?? 0) + 1);
          await inTime(clock, checkFinal(reader, final));
          responses.push(final.id);
          isCancelled ||= chosen.acts.some(({ act }) => act === "cancel");
          // A cancel right after the response's end may stop a turn that waits for answers.
          const isOpen = await reader.thread(final.conversation?.id).look(({ context: { open } }) => open !== null);
          input = isOpen === true ? answersTo(final, () => approvals[decisions++ % approvals.length] === true) : [];
        }
        if (!isCancelled) llm.assertComplete();
      }
      for (const host of hosts) await host.close();
    }),
    { numRuns: runs(200), examples: [[cancelled], ...ends.map((turn) => [{ ...asks, turns: turn }] as const)] },
  );
  expect([...seen.keys()].toSorted()).toEqual(["cancelled", "completed", "failed", "incomplete"]);
});
