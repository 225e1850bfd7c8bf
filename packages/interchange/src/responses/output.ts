import * as Either from "fp-ts/lib/Either.js";
import type { Json, JsonObject, ReplyDraft } from "@colloquy/machine";
import { foreignPart } from "../exchange/foreign.ts";
import { eachItem, type ImportProblem, problem } from "../exchange/import-problem.ts";
import { isJsonObject } from "../exchange/json-object.ts";
import { callOfOtherItem } from "./calls.ts";
import { clientCalls, textTypes } from "./item.ts";
import { answeredCalls, type InputPiece, readItem } from "./reading.ts";
import { draftOf, joined, type Reply, type ReplyItem } from "./reply.ts";

/**
 * The reply that the items of one output of the Responses API are (`response.output`), or which of them is none and why.
 * Sent back by `toResponseItems` they are what they were, in their order: reasoning with what is encrypted in it, several
 * messages with their ids and phases, calls wherever they stood. A call that has its output among them ran at the server: both
 * are kept as they came, and so are items of types that are not known.
 */
export const replyFromResponseItems = (items: unknown): Either.Either<ImportProblem, ReplyDraft> => {
  const answered = answeredCalls(items);
  let reply: Reply | null = null;
  const read = eachItem(items, "Responses items", (value, index) =>
    Either.map((item: ReplyItem) => (reply = joined(reply, item, unlost, index)))(
      readOutputItem(value, index, answered),
    ),
  );
  return Either.map(() => (reply === null ? {} : draftOf(reply)))(read);
};

const readOutputItem = (
  value: Json,
  index: number,
  answered: ReadonlySet<unknown>,
): Either.Either<ImportProblem, ReplyItem> => {
  if (!isJsonObject(value)) return problem(index, `item ${index} is not a Responses item: expected an object`);
  const { type = "message", call_id: id } = value;
  if (typeof type !== "string") return problem(index, `item ${index} is not a Responses item: its type is no text`);
  if (type === "message" ? !beginsWithText(value) : answered.has(id)) return asItIs(value);
  if (clientCalls.includes(type) && typeof id === "string")
    return Either.right({ parts: [], call: callOfOtherItem({ ...value, type }, id) });
  if (!readTypes.includes(type)) return asItIs(value);
  const read = readItem(type === "message" ? { ...value, role: "assistant" } : value, index, new Set(), unlost);
  // Of these types no item is an input's.
  return Either.chain((item: ReplyItem | InputPiece): Either.Either<ImportProblem, ReplyItem> =>
    "draft" in item ? asItIs(value) : Either.right(item),
  )(read);
};

const readTypes: readonly string[] = ["message", "reasoning", "function_call", "custom_tool_call"];

const asItIs = (item: JsonObject): Either.Either<never, ReplyItem> =>
  Either.right({ parts: [foreignPart("responses", item)] });

/** Of any other message of a model the fields would have no place. */
const beginsWithText = ({ role = "assistant", content }: JsonObject): boolean => {
  if (role !== "assistant") return false;
  if (typeof content === "string") return content !== "";
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  return isJsonObject(first) && (first["type"] === "refusal" || textTypes.includes(first["type"]));
};

/** What has no place in a reply is kept as it came. */
const unlost = (): void => {};
