import { replyFromResponseItems } from "@colloquy/interchange";
import type { LlmDelta } from "@colloquy/host";
import { describe, expect, test } from "vitest";
import { type DecodedResponse, ResponseAnswer } from "../../../src/llm/reply/response-answer.ts";
import {
  argumentsDelta,
  callOf,
  ended,
  eventsOf,
  messageOf,
  reasoning,
  said,
  summaryDelta,
  textDelta,
} from "../responses.ts";
import { eventOf } from "../server.ts";

interface Read {
  readonly decoded: DecodedResponse;
  readonly deltas: readonly LlmDelta[];
}

/** Decodes these events. */
const read = (...events: readonly object[]): Read => {
  const deltas: LlmDelta[] = [];
  const stream = new ResponseAnswer(replyFromResponseItems, (delta) => deltas.push(delta));
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

  test("are named only beside their data are read by those names", () => {
    const stream = new ResponseAnswer(replyFromResponseItems, () => {});
    const named = [...eventsOf(call, 0, argumentsDelta(call.arguments)), ended([call])].map((event) => {
      const { type, ...data } = { type: "", ...event };
      return `event: ${type}\n${eventOf(data)}`;
    });
    stream.feed(new TextEncoder().encode(named.join("")));
    stream.end();
    expect(stream.decoded().output).toEqual([call]);
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

  test.each([0, undefined, "0", 0.5, -1, 2 ** 60])(
    "gives the index %s to all items are told apart by ids, and by call ids without these",
    (index) => {
      const calls = ["Oslo", "Lima", "Rome"].map((city) => callOf(city, city));
      const placed = { output_index: index };
      const events = (call: { readonly arguments: string }, id: string) => [
        { type: "response.output_item.added", ...placed, item: { ...call, arguments: "" } },
        { ...argumentsDelta(call.arguments), ...placed, item_id: id },
      ];
      const done = (item: object) => ({ type: "response.output_item.done", ...placed, item });
      const bare = calls.map(({ id: _, ...call }) => call);
      for (const end of [[], calls]) {
        const all = calls.flatMap((call) => [...events(call, call.id), done(call)]);
        expect(read(...all, ended(end)).decoded.output).toEqual(calls);
        expect(read(...calls.map(done), ended(end)).decoded.output).toEqual(calls);
      }
      for (const end of [[], bare]) {
        const begun = bare.flatMap((call) => events(call, call.call_id));
        const { decoded, deltas } = read(...begun, ...bare.map(done), ended(end));
        expect(decoded.output).toEqual(bare);
        expect(deltas).toMatchObject(
          bare.flatMap((call, index) => ["", call.arguments].map((text) => ({ index, arguments: text }))),
        );
      }
    },
  );

  test("gives the index 0 to all items, and begins the next before it ends one, are told apart by ids", () => {
    const added = (item: object) => ({ type: "response.output_item.added", output_index: 0, item });
    const piece = (delta: object, id: string) => ({ ...delta, output_index: 0, item_id: id });
    const { decoded, deltas } = read(
      added({ type: "reasoning", id: "rs_1", summary: [] }),
      piece(summaryDelta("Hm."), "rs_1"),
      added({ ...said, content: [] }),
      piece(textDelta("Sunny."), said.id),
      ended([]),
    );
    expect(decoded.output).toMatchObject([{ type: "reasoning" }, { type: "message", content: [{ text: "Sunny." }] }]);
    expect(deltas).toEqual([
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Sunny." },
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

  test("ends items without what their pieces said, are read by the pieces", () => {
    const empty = { ...said, content: [] };
    const started = (item: object) => ({ type: "response.output_item.added", output_index: 0, item });
    const done = (item: object) => ({ type: "response.output_item.done", output_index: 0, item });
    const text = { ...textDelta("Sunny."), output_index: 0, content_index: 0 };
    for (const item of [empty, { ...said, content: [{ type: "output_text", text: "" }] }]) {
      const { decoded, deltas } = read(started(empty), text, done(item), ended([]));
      expect(decoded.output).toMatchObject([{ content: [{ type: "output_text", text: "Sunny." }] }]);
      expect(deltas).toEqual([{ type: "text", text: "Sunny." }]);
    }
    const bare = { ...call, arguments: "" };
    const pieces = { ...argumentsDelta(call.arguments), output_index: 0 };
    expect(read(started(bare), pieces, done(bare), ended([])).decoded.output).toEqual([call]);
  });

  test("never end a custom call keep its input so far", () => {
    const custom = { type: "custom_tool_call", id: "ct_1", call_id: "a", name: "f" };
    const added = (input: string) => ({
      type: "response.output_item.added",
      output_index: 0,
      item: { ...custom, input },
    });
    const piece = { type: "response.custom_tool_call_input.delta", output_index: 0, delta: "Hi" };
    for (const events of [[added("Hi")], [added(""), piece]])
      expect(read(...events, ended([])).decoded.output).toEqual([{ ...custom, input: "Hi" }]);
  });

  test("gives the text of a part only when the part is done, are read", () => {
    const part = { type: "output_text", text: "Sunny.", annotations: [] };
    const { decoded, deltas } = read({ type: "response.content_part.done", output_index: 0, part }, ended([]));
    expect(decoded.output).toMatchObject([{ type: "message", content: [{ text: "Sunny." }] }]);
    expect(deltas).toEqual([{ type: "text", text: "Sunny." }]);
  });

  test("says a part again when it is done shows it once, and only reasoning in lines", () => {
    const again = (text: string) => ({ type: "response.reasoning_summary_text.done", summary_index: 0, text });
    const thoughts = [summaryDelta(""), summaryDelta("Look it "), summaryDelta("up."), again("Look it up.")];
    const thinking = eventsOf(reasoning, 0, ...thoughts, summaryDelta("Then say.", 1));
    const other = { ...textDelta(" Warm."), content_index: 1 };
    const saidAgain = { type: "response.output_text.done", content_index: 0, text: "Sunny." };
    const saying = eventsOf(said, 1, textDelta("Sunny."), saidAgain, other);
    const { deltas } = read(...thinking, ...saying, ended([]));
    expect(deltas).toEqual([
      { type: "reasoning", text: "Look it " },
      { type: "reasoning", text: "up." },
      { type: "reasoning", text: "\nThen say." },
      { type: "text", text: "Sunny." },
      { type: "text", text: " Warm." },
    ]);
  });

  test.each([-1, 0.5, 3, "0", undefined])("counts parts as %j continues the newest part", (place) => {
    const [begun = {}] = eventsOf(messageOf("", { id: "of 0" }), 0);
    const piece = (delta: string, index: unknown) => ({ ...textDelta(delta), item_id: "of 0", content_index: index });
    const { decoded } = read(begun, piece("Sunny", 0), piece("Warm", 1), piece(".", place), piece(".", 0));
    expect(decoded.output).toMatchObject([{ content: [{ text: "Sunny." }, { text: "Warm." }] }]);
  });

  test("reports an error on two lines of its own failed by the first", () => {
    const stream = new ResponseAnswer(replyFromResponseItems);
    stream.feed(new TextEncoder().encode('error: {"message":"first"}\n\nerror: {"message":"second"}\n\n'));
    expect(stream.decoded().error).toEqual({ message: "first" });
  });

  test("sends items out of order have them in that of their places", () => {
    expect(read(...eventsOf(said, 1), ...eventsOf(call, 0), ended([])).decoded.output).toEqual([call, said]);
  });

  test("names an item anew in each event are about the one in its place", () => {
    const { decoded } = read(...eventsOf(said, 0), ended([{ ...said, id: "msg_other" }]));
    expect(decoded.output).toEqual([said]);
    // A call that has another name at the end is still the same call, whose tool must run once.
    const renamed = { ...call, id: "fc_other", call_id: "other" };
    expect(read(...eventsOf(call, 0), ended([renamed])).decoded.output).toEqual([call]);
  });

  test("leaves out the places go by the ids of the items", () => {
    const other = messageOf("Rainy.", { id: "msg_2" });
    const events = [...eventsOf(said, 0, { ...textDelta("Sun"), item_id: "msg_1" }), ...eventsOf(other, 1)];
    const [first, piece, done, ...others] = without("output_index", events);
    const { decoded } = read(first ?? {}, ...others, piece ?? {}, done ?? {}, ended([]));
    expect(decoded.output).toEqual([said, other]);
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

describe("a call", () => {
  const call = callOf("a", "Oslo");
  const begun = { type: "response.output_item.added", output_index: 0, item: { ...call, arguments: "" } };
  const piece = (delta: string): object => ({
    type: "response.function_call_arguments.delta",
    output_index: 0,
    delta,
  });
  const argumentsOf = ({ decoded: { output } }: Read): unknown => output[0]?.["arguments"];

  test.each([JSON.stringify(call.arguments), JSON.parse(call.arguments) as object])(
    "has the object that its server wrote as %j",
    (written) => {
      const item = { ...call, arguments: written };
      expect(argumentsOf(read(ended([item])))).toBe(call.arguments);
      expect(argumentsOf(read(begun, { type: "response.output_item.done", output_index: 0, item }, ended([])))).toBe(
        call.arguments,
      );
    },
  );

  test("that was begun and never done is complete if its arguments are an object", () => {
    expect(read(begun, piece(call.arguments), ended([])).decoded.status).toBe("completed");
    for (const events of [[begun], [begun, piece('{"ci')]])
      expect(read(...events, ended([])).decoded.status).toBe("incomplete");
  });

  test("has the arguments that come whole, without pieces or after them", () => {
    const done = { type: "response.function_call_arguments.done", output_index: 0, arguments: call.arguments };
    for (const events of [
      [begun, done],
      [begun, piece(call.arguments.slice(0, 3)), done],
      [begun, piece(call.arguments), done],
    ]) {
      const answer = read(...events, ended([]));
      expect(argumentsOf(answer)).toBe(call.arguments);
      expect(answer.deltas.map((delta) => (delta.type === "toolCall" ? delta.arguments : "")).join("")).toBe(
        call.arguments,
      );
    }
  });
});

test("an end with all items has each call, even if their ids repeat", () => {
  const output = [callOf("a", "Oslo"), { ...callOf("a", "Lima"), id: "fc_b" }];
  expect(read(ended(output)).decoded.output).toEqual(output);
});
