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
 * Reads the reply in the items of one output of the Responses API (`response.output`), or returns which item is
 * invalid and why. `toResponseItems` restores the items in their order: reasoning with its encrypted content, several
 * messages with their ids and phases, calls in their places. A call with its output among the items ran on the server;
 * both are kept unchanged, and so are items of unknown types.
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
  // Items of these types never belong to an input.
  return Either.chain((item: ReplyItem | InputPiece): Either.Either<ImportProblem, ReplyItem> =>
    "draft" in item ? asItIs(value) : Either.right(item),
  )(read);
};

const readTypes: readonly string[] = ["message", "reasoning", "function_call", "custom_tool_call"];

const asItIs = (item: JsonObject): Either.Either<never, ReplyItem> =>
  Either.right({ parts: [foreignPart("responses", item)] });

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
