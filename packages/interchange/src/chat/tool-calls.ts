import type { JsonObject, ToolCallDraft, ToolCallPart } from "@colloquy/machine";
import { isJsonObject } from "../exchange/json-object.ts";

/** A tool call on the wire, under the id that it goes by there; null for none. */
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
 * A tool call of the wire: a function, a custom tool (whose input is a text), or one of a kind that is not known
 * here, which is kept as it came and goes back so. `{id, name, arguments}` without more is read as a function too.
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
  // Some servers parse the arguments for their caller; absent ones are the JSON value that says so.
  arguments: typeof given === "string" ? given : JSON.stringify(given ?? null),
  ...(Object.keys(provider).length === 0 ? {} : { provider }),
});

const isFlat = (call: JsonObject): boolean =>
  typeof call["name"] === "string" && Object.keys(call).every((key) => flatKeys.includes(key));

const flatKeys: readonly string[] = ["id", "name", "arguments"];
