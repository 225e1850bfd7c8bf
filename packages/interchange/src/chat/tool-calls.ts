import type { JsonObject, ToolCallDraft, ToolCallPart } from "@colloquy/machine";
import { isJsonObject } from "../exchange/json-object.ts";

/** Converts a tool call to the wire format, with the given id; null for none. */
export const toolCallToWire = (call: ToolCallPart, id: string | null): JsonObject => {
  const provider = call.provider ?? {};
  if (isJsonObject(provider["call"])) return provider["call"];
  const fields = {
    ...(id === null ? {} : { id }),
    ...(provider["extra_content"] === undefined ? {} : { extra_content: provider["extra_content"] }),
  };
  return provider["type"] === "custom"
    ? { ...fields, type: "custom", custom: { name: call.name, input: call.arguments } }
    : { ...fields, type: "function", function: { name: call.name, arguments: call.arguments } };
};

/**
 * Reads a tool call: a function, a custom tool (whose input is a text), or a call of an unknown kind. A call of an
 * unknown kind is kept and goes back unchanged. `{id, name, arguments}` alone is read as a function too.
 */
export const toolCallFromWire = (call: JsonObject): ToolCallDraft => {
  const { id, type, function: called, custom, extra_content: extra } = call;
  const provider = extra === undefined || extra === null ? {} : { extra_content: extra };
  if (isJsonObject(called)) return draftOf(id, called["name"], called["arguments"], provider);
  if (isJsonObject(custom)) return draftOf(id, custom["name"], custom["input"], { ...provider, type: "custom" });
  if (isFlat(call)) return draftOf(id, call["name"], call["arguments"], provider);
  return draftOf(id, call["name"] ?? type, call, { call });
};

const draftOf = (
  id: JsonObject[string],
  name: JsonObject[string],
  given: JsonObject[string],
  provider: JsonObject,
): ToolCallDraft => ({
  id: typeof id === "string" ? id : null,
  name: typeof name === "string" ? name : "",
  // Some servers parse the arguments. Absent arguments become the JSON text `null`.
  arguments: typeof given === "string" ? given : JSON.stringify(given ?? null),
  ...(Object.keys(provider).length === 0 ? {} : { provider }),
});

const isFlat = (call: JsonObject): boolean =>
  typeof call["name"] === "string" && Object.keys(call).every((key) => flatKeys.includes(key));

const flatKeys: readonly string[] = ["id", "name", "arguments"];
