import type { Content, Json, JsonObject, MessageDraft, SeedDraft, SystemDraft } from "@colloquy/machine";
import { fromResponseItems } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import { HttpError } from "../http/http-error.ts";
import { type ItemPlace, placeOfItem } from "../items/item.ts";
import type { ResponseRequest } from "./response-request.ts";

/** What a caller says of a call that waits for it. */
export interface CallAnswer {
  /** The call, as `call_id` names it. */
  readonly place: ItemPlace;
  readonly output: Content;
}

/** What a person says of a call that waits for approval. */
export interface ApprovalAnswer {
  readonly place: ItemPlace;
  /** Which request for this call, from 1. */
  readonly number: number;
  readonly approve: boolean;
  readonly reason: string | null;
}

/** The input of a request, sorted by what becomes of it. */
export interface ResponseInput {
  /** An opening system message. */
  readonly system: SystemDraft | null;
  /** Turns that were had before, whole, as clients without memory send them. */
  readonly history: readonly (readonly SeedDraft[])[];
  /** What is asked. */
  readonly said: readonly MessageDraft[];
  readonly answers: readonly CallAnswer[];
  readonly approvals: readonly ApprovalAnswer[];
  /** The newest item that is named instead of sent: the input goes on behind it. */
  readonly behind: ItemPlace | null;
}

/** Reads an input. @throws HttpError 400 that names the item */
export const readInput = ({ input }: Pick<ResponseRequest, "input">): ResponseInput => {
  const items: readonly JsonObject[] =
    typeof input === "string" ? [{ type: "message", role: "user", content: input }] : (input ?? []);
  const lastReference = items.findLastIndex(({ type }) => type === "item_reference");
  const behind = lastReference < 0 ? null : placeOfReference(items[lastReference]?.["id"], lastReference);
  const leading =
    lastReference < 0 ? [] : items.slice(0, 1).filter(({ role }) => role === "system" || role === "developer");
  const rest = [...leading, ...items.slice(lastReference + 1)];
  const sent = new Set(rest.map((item) => (item["type"] === "function_call" ? item["call_id"] : null)));
  const answers: CallAnswer[] = [];
  const approvals: ApprovalAnswer[] = [];
  const others: JsonObject[] = [];
  for (const [index, item] of rest.entries()) {
    if (item["type"] === "mcp_approval_response") approvals.push(approvalIn(item, index));
    else if (item["type"] === "function_call_output" && !sent.has(item["call_id"] ?? null))
      answers.push(answerIn(item, index));
    else if (item["type"] === "mcp_call") others.push(...callAndOutput(item));
    else if (item["type"] !== "mcp_approval_request" && item["type"] !== "mcp_list_tools") others.push(item);
  }
  return { ...conversationIn(others), answers, approvals, behind };
};

const conversationIn = (items: readonly JsonObject[]): Pick<ResponseInput, "system" | "history" | "said"> => {
  const read = fromResponseItems(items);
  if (Either.isLeft(read))
    throw new HttpError(400, `input.${read.left.index}: ${read.left.reason}`, { param: `input[${read.left.index}]` });
  const { system, turns } = read.right;
  const last = turns.at(-1) ?? [];
  const said = last.filter(isSaid);
  return said.length === last.length
    ? { system, history: turns.slice(0, -1), said }
    : { system, history: turns, said: [] };
};

const isSaid = (draft: SeedDraft): draft is MessageDraft => draft.role !== "assistant" && draft.role !== "tool";

const placeOfReference = (id: Json | undefined, index: number): ItemPlace => {
  const place = typeof id === "string" ? placeOfItem(id) : null;
  if (place === null) throw notFound(`input.${index}: there is no item ${JSON.stringify(id)}; send the item itself`);
  return place;
};

const answerIn = (item: JsonObject, index: number): CallAnswer => {
  const { call_id: id, output } = item;
  const place = typeof id === "string" ? placeOfItem(id) : null;
  if (place?.kind !== "call")
    throw notFound(
      `input.${index}: no call ${JSON.stringify(id)} waits for its output; send the call as well, before it`,
    );
  const [turn = []] = conversationIn([
    { type: "function_call", call_id: "1", name: "call", arguments: "{}" },
    { ...item, call_id: "1" },
  ]).history;
  const result = turn.find((draft) => draft.role === "tool");
  return { place, output: result?.content ?? (typeof output === "string" ? output : "") };
};

const approvalIn = (item: JsonObject, index: number): ApprovalAnswer => {
  const { approval_request_id: id, approve, reason } = item;
  const place = typeof id === "string" ? placeOfItem(id) : null;
  const number = Number(/^mcpr(\d+)$/u.exec(place?.kind ?? "")?.[1]);
  if (place === null || !(number > 0))
    throw notFound(`input.${index}: there is no approval request ${JSON.stringify(id)}`);
  if (typeof approve !== "boolean")
    throw new HttpError(400, `input.${index}: approve must be true or false`, { param: `input[${index}].approve` });
  return { place, number, approve, reason: typeof reason === "string" ? reason : null };
};

/** What a tool of the host came to, as a client sends it back: for a model it is a call and its result. */
const callAndOutput = ({ id, name, arguments: written, output, error }: JsonObject): readonly JsonObject[] => {
  const call = { call_id: id ?? null, name: name ?? "", arguments: written ?? "{}" };
  return [
    { type: "function_call", ...call },
    { type: "function_call_output", call_id: call.call_id, output: output ?? error ?? "" },
  ];
};

const notFound = (message: string): HttpError =>
  new HttpError(400, message, { param: "input", code: "item_not_found" });
