import { type VirtualClock, virtualClock } from "@colloquy/runtime-test";
import { fails, scriptedModel, type ScriptLine, streams } from "@colloquy/runtime-test/models";
import fc from "fast-check";
import type OpenAI from "openai";
import { expect, test } from "vitest";
import { createHost, type Host, memoryStore } from "@colloquy/runtime-node";
import { runs } from "../../../../test/runs.ts";
import type { ThreadServer } from "../../src/index.ts";
import { lookUp, refund, type Responding, respondingOf, streamed, weather } from "./responding.ts";

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
const usage = fc.option(fc.record({ inputTokens: fc.nat(50), outputTokens: fc.nat(50) }), { nil: undefined });
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

/** The events of a stream, errors among them, at which the SDK throws. */
const eventsOf = async (server: ThreadServer, path: string, body?: object): Promise<readonly Event[]> => {
  const events = await streamed(server, path, body);
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
  return events;
};

const finalOf = (events: readonly Event[]): OpenAI.Responses.Response => {
  const last = events.at(-1);
  if (last === undefined || !("response" in last)) throw new Error(`a stream ended with ${JSON.stringify(last)}`);
  return last.response;
};

/** What the deltas of each item add up to, and what its end says: both by the place in the output. */
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

/** Answers all that a response waits for; nothing where it waits for nothing. */
const answersTo = (response: OpenAI.Responses.Response, approve: () => boolean): Input =>
  response.output.flatMap((item): Input => {
    if (item.type === "function_call") return [{ type: "function_call_output", call_id: item.call_id, output: "Ada" }];
    if (item.type !== "mcp_approval_request") return [];
    return [{ type: "mcp_approval_response", approval_request_id: item.id, approve: approve() }];
  });

/** What a response says, but for what the SDK adds to some, and the time of a leg's beginning, which only the process knows that began it. */
const comparable = ({ created_at: _, output_text: __, ...response }: OpenAI.Responses.Response) => response;

const checkLeg = async (host: Host, live: readonly Event[]): Promise<void> => {
  const { deltas, done } = itemsIn(live);
  expect(deltas).toEqual(new Map([...done].filter(([, text]) => text !== "")));
  await checkFinal(host, finalOf(live));
};

const checkFinal = async (host: Host, final: OpenAI.Responses.Response): Promise<void> => {
  // Another process, which showed nothing of it.
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
    { numRuns: runs(160) },
  );
  expect([...seen.keys()].toSorted()).toEqual(["completed", "failed", "incomplete"]);
});

/** How a response is asked for. */
const way = fc.record({
  server: fc.nat(1),
  by: fc.constantFrom("post", "stream", "background", "background stream"),
  reader: fc.nat(1),
});

type Way = typeof way extends fc.Arbitrary<infer Value> ? Value : never;

const shared = fc.record({
  turns,
  ways: fc.array(way, { minLength: 10, maxLength: 10 }),
  partsMs: fc.constantFrom(null, 30),
});

/** Lets time pass until a promise has settled. */
const inTime = async <Value>(clock: VirtualClock, promise: Promise<Value>): Promise<Value> => {
  let isSettled = false;
  const settled = promise.finally(() => (isSettled = true));
  settled.catch(() => {});
  for (let rounds = 0; !isSettled && rounds < 400; rounds++) await clock.advance(50);
  if (!isSettled) throw new Error("it never ends");
  return settled;
};

const respondedTo = async (
  servers: readonly Omit<Responding, "host">[],
  { server, by, reader }: Way,
  asked: OpenAI.Responses.ResponseCreateParamsNonStreaming,
): Promise<OpenAI.Responses.Response> => {
  const [there = servers[0], back = servers[0]] = [servers[server], servers[reader]];
  if (there === undefined || back === undefined) throw new Error("there are two servers");
  if (by === "post") return there.client.responses.create(asked);
  if (by === "stream") return finalOf(await eventsOf(there.server, "/v1/responses", { ...asked, stream: true }));
  const { id } = await there.client.responses.create({ ...asked, background: true });
  if (by === "background stream") return finalOf(await eventsOf(back.server, `/v1/responses/${id}?stream=true`));
  for (;;) {
    const read = await back.client.responses.retrieve(id);
    if (read.status !== "in_progress" && read.status !== "queued") return read;
    await new Promise((resolve) => setImmediate(resolve));
  }
};

test("whichever of two servers on one store is asked, and however, a response is what the journal has, and ends", async () => {
  await fc.assert(
    fc.asyncProperty(shared, async ({ turns: [scripts, approvals], ways, partsMs }) => {
      const clock = virtualClock();
      const store = memoryStore({ clock });
      const llm = scriptedModel(scripts.flat());
      const machine = { retry: { attempts: 6, baseDelayMs: 0, maxDelayMs: 0 } };
      const hosts = ["one", "two", "reader"].map((owner) =>
        createHost({ llm, store, clock, owner, tools: [weather, refund], machine, partsMs }),
      );
      const servers = hosts.slice(0, 2).map((host) => respondingOf(host, { clock }));
      let asks = 0;
      let decisions = 0;
      let previous: string | null = null;
      const { id: conversation } = await respondingOf(hosts[0] as Host).client.conversations.create({});
      for (const number of scripts.keys()) {
        let input: string | Input = `Go on, ${number}`;
        while (input.length > 0) {
          const where = typeof input === "string" ? { conversation } : { previous_response_id: previous };
          const asked = { model: "any", tools: [lookUp], input, ...where };
          const chosen = ways[asks++ % ways.length] as Way;
          const final: OpenAI.Responses.Response = await inTime(clock, respondedTo(servers, chosen, asked));
          await inTime(clock, checkFinal(hosts[2] as Host, final));
          previous = final.id;
          input = answersTo(final, () => approvals[decisions++ % approvals.length] === true);
        }
      }
      llm.assertComplete();
      for (const host of hosts) await host.close();
    }),
    { numRuns: runs(200) },
  );
});
