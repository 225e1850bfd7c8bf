import type { LlmDelta } from "@colloquy/host";
import { describe, expect, test } from "vitest";
import { type DecodedResponse, responseAnswer } from "../../../src/llm/reply/response-answer.ts";
import { argumentsDelta, callOf, ended, eventsOf, messageOf, reasoning, said, textDelta } from "../responses.ts";
import { eventOf } from "../server.ts";

interface Read {
  readonly decoded: DecodedResponse;
  readonly deltas: readonly LlmDelta[];
}

/** What is made of these events. */
const read = (...events: readonly object[]): Read => {
  const deltas: LlmDelta[] = [];
  const stream = responseAnswer((delta) => deltas.push(delta));
  stream.feed(new TextEncoder().encode(events.map(eventOf).join("")));
  stream.end();
  return { decoded: stream.decoded(), deltas };
};

const without = (member: string, events: readonly object[]): readonly object[] =>
  events.map((event) => Object.fromEntries(Object.entries(event).filter(([name]) => name !== member)));

describe("events of a server that", () => {
  const call = callOf("a", "Oslo");

  test("has types of its own, named like members of all objects, are passed over", () => {
    const strange = ["constructor", "toString", "__proto__", "response.unknown.delta"];
    const { decoded, deltas } = read(...strange.map((type) => ({ type, delta: "x" })), ended([said]));
    expect(decoded.output).toEqual([said]);
    expect(deltas).toEqual([{ type: "text", text: "Sunny." }]);
  });

  test("says things twice are shown once", () => {
    const [added = {}, whole, done = {}] = eventsOf(call, 0, argumentsDelta(call.arguments));
    const late = [
      done,
      { ...whole },
      { type: "response.output_text.delta", output_index: 1, content_index: 0, delta: "" },
    ];
    const { decoded, deltas } = read(added, done, ...late, ended([call]));
    expect(decoded.output[0]).toEqual(call);
    expect(deltas.flatMap((delta) => (delta.type === "toolCall" ? [delta.arguments] : []))).toEqual([
      "",
      call.arguments,
    ]);
  });

  test("counts from one leave each item once, and one that comes at the end alone is kept", () => {
    const shifted = read(...eventsOf(call, 1), ...eventsOf(said, 2, textDelta("Sunny.")), ended([call, said]));
    expect(shifted.decoded.output).toEqual([call, said]);
    expect(shifted.deltas.filter(({ type }) => type === "text")).toHaveLength(1);
    const late = read(...without("output_index", eventsOf(said, 0)), ended([reasoning, said]));
    expect(late.decoded.output).toHaveLength(2);
    expect(late.decoded.output).toContainEqual(reasoning);
  });

  test("sends items out of order have them in that of their places", () => {
    expect(read(...eventsOf(said, 1), ...eventsOf(call, 0), ended([])).decoded.output).toEqual([call, said]);
  });

  test("names an item anew in each event are about the one in its place", () => {
    const { decoded } = read(...eventsOf(said, 0), ended([{ ...said, id: "msg_other" }]));
    expect(decoded.output).toEqual([said]);
  });

  test("leaves out the places go by the ids of the items", () => {
    const other = messageOf("Rainy.", { id: "msg_2" });
    const events = [...eventsOf(said, 0, { ...textDelta("Sun"), item_id: "msg_1" }), ...eventsOf(other, 1)];
    const [first, piece, done, ...others] = without("output_index", events);
    const { decoded } = read(first ?? {}, ...others, piece ?? {}, done ?? {}, ended([]));
    expect(decoded.output).toEqual([said, other]);
  });

  test("counts with what is no count lose nothing", () => {
    for (const output_index of [-1, 0.5, 1e300, "0", null])
      expect(read({ type: "response.output_item.done", output_index, item: said }, ended([])).decoded.output).toEqual([
        said,
      ]);
  });

  test("ends an answer that it calls unfinished have ended it", () => {
    const end = ended([said], { status: "in_progress" });
    expect(read(end).decoded.status).toBe("completed");
    expect(read({ ...end, type: "response.incomplete" }).decoded.status).toBe("incomplete");
  });

  test("calls twenty thousand tools and names no places are read: looking through all items for each would not end", () => {
    const calls = Array.from({ length: 20_000 }, (_, index) => callOf(String(index), "Oslo"));
    const events = calls.flatMap((item) => without("output_index", eventsOf(item, 0)));
    expect(read(...events, ended(calls)).decoded.output).toEqual(calls);
  });
});
