import type { JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { problemOfRules } from "./request-body.ts";
import { membersOf, ofItems, typeOf } from "./strict/families/openai-responses.ts";
import { textOf } from "./strict/rules/json.ts";
import { invalidRequest, type WireError } from "./wire-error.ts";

/** Items that a server keeps for a client, by their ids. */
export interface KeptItems {
  readonly get: (id: string) => JsonObject | undefined;
}

/**
 * Returns the items of an input, with references replaced by the kept items; or the error of the real server. It
 * refuses an unknown type or field, and reasoning of which it kept nothing or whose following item is missing. It also
 * refuses calls and outputs that do not match.
 */
export const readItems = (
  items: readonly JsonObject[],
  kept: KeptItems,
): Either.Either<WireError, readonly JsonObject[]> => {
  const read: JsonObject[] = [];
  for (const [index, item] of items.entries()) {
    const problem = problemOfItem(item, `input[${index}]`, kept);
    if (problem !== null) return Either.left(problem);
    const named = item["type"] === "item_reference" ? kept.get(textOf(item["id"])) : undefined;
    read.push(named ?? item);
  }
  const problem = problemOfRules([ofItems.members, ofItems.calls, ofItems.reasoning], { input: read });
  return problem === null ? Either.right(read) : Either.left(problem);
};

const problemOfItem = (item: JsonObject, at: string, kept: KeptItems): WireError | null => {
  const type = typeOf(item) || "message";
  const known = Object.hasOwn(membersOf, type) ? membersOf[type] : undefined;
  if (known === undefined) {
    const supported = Object.keys(membersOf).map((name) => `'${name}'`);
    const message = `Invalid value: '${type}'. Supported values are: ${supported.join(", ")}.`;
    return invalidRequest(message, `${at}.type`, "invalid_value");
  }
  const missing = known.needed.find((name) => item[name] === undefined);
  if (missing !== undefined) {
    const param = `${at}.${missing}`;
    return invalidRequest(`Missing required parameter: '${param}'.`, param, "missing_required_parameter");
  }
  const unread = type === "reasoning" && textOf(item["encrypted_content"]) === "";
  const id = textOf(item["id"]);
  return (unread || type === "item_reference") && kept.get(id) === undefined ? notFound(id) : null;
};

const notFound = (id: string): WireError => ({
  ...invalidRequest(
    `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    "input",
  ),
  status: 404,
});
