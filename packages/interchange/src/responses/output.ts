import type * as Either from "fp-ts/lib/Either.js";
import type { Json, JsonObject, ReplyDraft } from "@colloquy/machine";
import { foreignPart } from "../exchange/foreign.ts";
import { caught, eachItem, type ImportProblem, Unreadable } from "../exchange/import-problem.ts";
import { isJsonObject } from "../exchange/json.ts";
import { callOfOtherItem, textTypes } from "./content.ts";
import { answeredCalls, clientCalls, draftOf, joined, readItem, type Reply, type ReplyItem } from "./reading.ts";

/**
 * Reads the reply in the items of one output of the Responses API (`response.output`), or returns which item is
 * invalid and why. `toResponseItems` restores the items in their order: reasoning with its encrypted content, several
 * messages with their ids and phases, calls in their places. A call with its output among the items ran on the server;
 * both are kept unchanged, and so are items of unknown types.
 */
export const replyFromResponseItems = (items: unknown): Either.Either<ImportProblem, ReplyDraft> =>
  caught(() => {
    const answered = answeredCalls(items);
    let reply: Reply | null = null;
    eachItem(items, "Responses items", (value, index) => {
      reply = joined(reply, readOutputItem(value, index, answered), unlost, index);
    });
    return reply === null ? {} : draftOf(reply);
  });

const readOutputItem = (value: Json, index: number, answered: ReadonlySet<unknown>): ReplyItem => {
  if (!isJsonObject(value)) throw new Unreadable(index, `item ${index} is not a Responses item: expected an object`);
  const { type = "message", call_id: id } = value;
  if (typeof type !== "string")
    throw new Unreadable(index, `item ${index} is not a Responses item: its type is not a text`);
  const asItIs: ReplyItem = { parts: [foreignPart("responses", value)] };
  if (type === "message" ? !beginsWithText(value) : answered.has(id)) return asItIs;
  if (clientCalls.includes(type) && typeof id === "string")
    return { parts: [], call: callOfOtherItem({ ...value, type }, id) };
  if (!readTypes.includes(type)) return asItIs;
  const read = readItem(type === "message" ? { ...value, role: "assistant" } : value, index, new Set(), unlost);
  // Items of these types never belong to an input.
  return "draft" in read ? asItIs : read;
};

const readTypes: readonly string[] = ["message", "reasoning", "function_call", "custom_tool_call"];

/**
 * Returns whether a message of the model begins with a text or a refusal. In other messages the fields would have no
 * place.
 */
const beginsWithText = ({ role = "assistant", content }: JsonObject): boolean => {
  if (role !== "assistant") return false;
  if (typeof content === "string") return content !== "";
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  return isJsonObject(first) && (first["type"] === "refusal" || textTypes.includes(first["type"]));
};

/** Reports no loss, because items that do not fit a reply are kept unchanged. */
const unlost = (): void => {};
