import type { Json, JsonObject } from "@colloquy/machine";
import { isJsonObject } from "../exchange/json-object.ts";
import { type Lose, loseRest } from "../exchange/loss.ts";

/**
 * Reports what `fromChatMessage` leaves out of a message: fields that servers send and do not take back. `names` holds
 * the tool names of the calls so far, by id, since a result repeats the name of its tool.
 */
export const chatLosses = (wire: Json, lose: Lose, names: Map<string, string>): void => {
  if (!isJsonObject(wire)) return;
  const { role, content: _, ...rest } = wire;
  const kept = role === "assistant" ? ofReplies : role === "tool" ? ofResults : ofOthers;
  loseRest(lose, "", without(rest, kept), toldOnly);
  if (role === "tool") return lostOfResult(wire, lose, names);
  if (role !== "assistant") return;
  if (isJsonObject(wire["audio"])) loseRest(lose, "audio", without(wire["audio"], ["id", "transcript"]), toldOnly);
  const calls = wire["tool_calls"] ?? [];
  if (!isList(calls)) return;
  for (const [place, call] of calls.entries()) lostOfCall(call, `tool_calls.${place}`, lose, names);
};

const ofReplies = [
  "name",
  "refusal",
  "tool_calls",
  "reasoning",
  "reasoning_content",
  "thinking",
  "reasoning_details",
  "thinking_blocks",
  "extra_content",
  "function_call",
  "audio",
  "prefix",
  "partial",
  "cache_control",
];
const ofResults = ["tool_call_id", "name"];
const ofOthers = ["name", "cache_control"];
const toldOnly = "servers do not take it back, so a thread does not keep it";

const lostOfCall = (call: Json, path: string, lose: Lose, names: Map<string, string>): void => {
  if (!isJsonObject(call)) return;
  const { id, function: called, custom } = call;
  const inner = called ?? custom;
  if (!isJsonObject(inner)) return;
  if (typeof id === "string" && typeof inner["name"] === "string") names.set(id, inner["name"]);
  // The index in a stream equals the index in the list.
  loseRest(lose, path, without(call, ["id", "type", "index", "function", "custom", "extra_content"]), toldOnly);
  const read = called === undefined ? ["name", "input"] : ["name", "arguments"];
  loseRest(lose, path, without(inner, read), toldOnly);
};

const lostOfResult = (wire: JsonObject, lose: Lose, names: Map<string, string>): void => {
  const { name, tool_call_id: id } = wire;
  if (typeof name !== "string" || name === "") return;
  const called = typeof id === "string" ? names.get(id) : undefined;
  if (called !== undefined && called !== name) lose("name", `the name "${name}"`, `the call is one of "${called}"`);
};

const without = (object: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
