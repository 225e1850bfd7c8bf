import { createHash } from "node:crypto";
import type { Json, JsonObject } from "@colloquy/machine";
import { canonicalJson } from "./canonical.ts";

/**
 * An item of the Responses API in the canonical form in which recordings are compared. A message has its role and
 * content. A function call has its id, name and exact arguments; a function output has its call and its output. Every
 * other item (reasoning, a built-in tool's call) has only `type` and `id`. A type and not an interface, so that it is
 * assignable to JSON.
 */
export type CanonicalItem = { readonly type: string } & { readonly [field: string]: Json };

/** Returns the canonical form of an item in a request or a response. A canonical item stays unchanged. */
export const canonicalItemOf = (item: JsonObject): CanonicalItem => {
  const type = item["type"] ?? (item["role"] === undefined ? "item_reference" : "message");
  switch (type) {
    case "message":
      return { type, role: item["role"] ?? null, content: contentOf(item["content"]) };
    case "function_call":
      return {
        type,
        call_id: item["call_id"] ?? null,
        name: item["name"] ?? null,
        arguments: item["arguments"] ?? null,
      };
    case "function_call_output":
      return { type, call_id: item["call_id"] ?? null, output: contentOf(item["output"]) };
    default:
      return { type: typeof type === "string" ? type : "", id: item["id"] ?? item["call_id"] ?? null };
  }
};

/** Returns the canonical form of a request's `input`, which may be a text. */
export const canonicalInput = (input: Json | undefined): readonly CanonicalItem[] =>
  typeof input === "string"
    ? [{ type: "message", role: "user", content: input }]
    : // The items of a request are objects.
      (Array.isArray(input) ? (input as readonly JsonObject[]) : []).map(canonicalItemOf);

/** Returns the SHA-256 of a list of canonical items, as recordings contain it. */
export const sha256OfItems = (items: readonly CanonicalItem[]): string =>
  createHash("sha256").update(canonicalJson(items), "utf8").digest("hex");

/**
 * Returns whether two canonical items have the same content. Parts other than texts are compared without empty members
 * (null, an empty list), because clients differ in which of them they write.
 */
export const sameItem = (left: CanonicalItem, right: CanonicalItem): boolean =>
  canonicalJson(comparable(left)) === canonicalJson(comparable(right));

const contentOf = (content: Json | undefined): Json => {
  if (!isList(content)) return content ?? null;
  const texts = content.map((part) => (isObject(part) ? part["text"] : undefined));
  return texts.every((text) => typeof text === "string") ? texts.join("") : content;
};

const comparable = (item: CanonicalItem): Json =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]): [string, Json] => [
      name,
      name === "content" || name === "output" ? comparableContent(value) : value,
    ]),
  );

/** Treats no content, an empty text and an empty list as the same. */
const comparableContent = (content: Json): Json => {
  if (content === null || (isList(content) && content.length === 0)) return "";
  if (!isList(content)) return content;
  return content.map((part) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).filter(([, value]) => !saysNothing(value))) : part,
  );
};

const saysNothing = (value: Json | undefined): boolean =>
  value === undefined || value === null || (isList(value) && value.length === 0);

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

const isObject = (value: Json): value is JsonObject => typeof value === "object" && value !== null && !isList(value);
