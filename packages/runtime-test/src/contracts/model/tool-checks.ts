import type { ToolDeclaration } from "@colloquy/machine";
import { expect } from "vitest";
import { reply, toolCalls } from "../../models/script.ts";
import { scriptedModel } from "../../models/scripted-model.ts";
import { recordedJson, recordedStream } from "../../server/recorded-response.ts";
import { completed, failureOf, saidInPieces, saidInReply } from "./said.ts";
import type { ModelChecks } from "./subject.ts";

const tools: readonly ToolDeclaration[] = ["get_weather", "get_time"].map((name) => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
}));

const calls = [
  { id: "call_a", name: "get_weather", arguments: '{"city":"Reykjavík 🌨"}' },
  { id: "call_b", name: "get_time", arguments: '{"city":"Rome"}' },
  { id: "call_c", name: "get_weather", arguments: '{"city":"Oslo"}' },
];

/** Checks of offered tools, and of tool calls. */
export const toolChecks: ModelChecks = {
  "offers exactly the tools of the call": async ({ call }) => {
    const { ended, requests } = await call(scriptedModel([reply("Snow.")]), { tools });
    completed(await ended());
    expect(JSON.stringify(namesIn(requests[0]?.body))).toBe(JSON.stringify(["get_weather", "get_time"]));
  },
  "offers no tools for a summary": async ({ call }) => {
    const { ended, requests } = await call(scriptedModel([reply("Snow.")]), { fields: { purpose: "summary" } });
    completed(await ended());
    expect(namesIn(requests[0]?.body)).toEqual([]);
  },
  "gives parallel calls in order, with ids and arguments, however the bytes are cut": async ({ play, wire }) => {
    const bytes = await wire(toolCalls(calls), true);
    for (const pieceBytes of [5, 1_000_000]) {
      const { ended, deltas } = await play([recordedStream(bytes, { pieceBytes })], { tools });
      const said = saidInReply(completed(await ended()).reply);
      expect(said).toEqual({ text: "", reasoning: "", refusal: "", calls });
      expect(saidInPieces(deltas)).toEqual(said);
    }
  },
};

export const plainToolChecks: ModelChecks = {
  "gives the calls of a plain answer": async ({ play, wire }) => {
    const { ended } = await play([recordedJson(await wire(toolCalls(calls), false))], { tools, stream: false });
    expect(saidInReply(completed(await ended()).reply).calls).toEqual(calls);
  },
};

export const noToolChecks: ModelChecks = {
  "says that it can't offer tools, and asks nobody": async ({ call }) => {
    const { ended, requests } = await call(scriptedModel([reply("Snow.")]), { tools });
    expect(failureOf(await ended())).toMatchObject({ kind: "bad_request", retryable: false });
    expect(requests).toEqual([]);
  },
};

/** Returns the names of the tools in a request; chat completions have them a level deeper. */
const namesIn = (body: unknown): readonly unknown[] => {
  // A handler sends a JSON object; any other value has no tools.
  const { tools = [] } = (body ?? {}) as {
    readonly tools?: readonly { name?: unknown; function?: { name: unknown } }[];
  };
  return tools.map((tool) => tool.function?.name ?? tool.name);
};
