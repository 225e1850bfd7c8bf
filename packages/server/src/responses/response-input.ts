import type { Content, Json, JsonObject, MessageDraft, SeedDraft, SystemDraft } from "@colloquy/machine";
import { fromResponseItems } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import { type HttpError, invalid, withoutRepair } from "../http/http-error.ts";
import { type NamedItem, placeOfItem } from "../items/item.ts";
import type { ResponseRequest } from "./response-request.ts";
import { skippedItem } from "./skipping.ts";

export interface CallAnswer {
  /** The call that `call_id` names. */
  readonly place: NamedItem;
  readonly output: Content;
}

/** A person's decision about a call that waits for approval. */
export interface ApprovalAnswer {
  readonly place: NamedItem;
  /** The number of the approval request for this call, from 1. */
  readonly number: number;
  readonly approve: boolean;
  readonly reason: string | null;
}

/** The input of a request, sorted by use. */
export interface ResponseInput {
  readonly system: SystemDraft | null;
  /** Whole earlier turns, as stateless clients send them. */
  readonly history: readonly (readonly SeedDraft[])[];
  readonly said: readonly MessageDraft[];
  readonly answers: readonly CallAnswer[];
  readonly approvals: readonly ApprovalAnswer[];
  /** The newest item that the input refers to by id; the request continues after it. */
  readonly behind: NamedItem | null;
  /** Outputs at the end that come with the calls of this server, from clients that keep the conversation. */
  readonly resent: readonly ResentAnswer[];
  /** The calls and outputs that did not match, each with its place and what became of it. */
  readonly repaired: readonly string[];
}

/** An output that was sent together with its call. */
export interface ResentAnswer extends CallAnswer {
  readonly name: string;
  readonly arguments: string;
}

/** Parses an input. @throws HttpError 400 that names the item */
export const readInput = ({ input }: Pick<ResponseRequest, "input">): ResponseInput => {
  const given: readonly JsonObject[] =
    typeof input === "string" ? [{ type: "message", role: "user", content: input }] : (input ?? []);
  const items = given
    .map((value, index): Numbered => ({ value, index }))
    .filter(({ value, index }) => skippedItem(value, index) === null);
  const [first] = given;
  if (items.length === 0 && first !== undefined)
    throw invalid(`${skippedItem(first, 0) ?? "input"}; nothing else is asked`, "input");
  const lastReference = items.findLastIndex(({ value }) => value["type"] === "item_reference");
  const behind = lastReference < 0 ? null : placeOfReference(items[lastReference]?.value["id"], lastReference);
  const lead = lastReference > 0 ? items[0] : undefined;
  const leading = lead?.value["role"] === "system" || lead?.value["role"] === "developer" ? [lead] : [];
  const rest = [...leading, ...items.slice(lastReference + 1)];
  const sent = new Map(
    // Codex answers a `local_shell_call` with a `function_call_output`.
    rest.flatMap((item) => (isCall(item.value) ? [[item.value["call_id"], item] as const] : [])),
  );
  const answers: CallAnswer[] = [];
  const approvals: ApprovalAnswer[] = [];
  const others: Numbered[] = [];
  for (const item of rest) {
    const { type, call_id: callId = null } = item.value;
    if (type === "mcp_approval_response") approvals.push(approvalIn(item));
    else if (type === "function_call_output" && !sent.has(callId) && isOfHere(callId)) answers.push(answerIn(item));
    else if (type === "mcp_call") others.push(...callAndOutput(item));
    else if (type !== "mcp_approval_request" && type !== "mcp_list_tools") others.push(item);
  }
  const conversation = conversationIn(others);
  const orphan = others.find(({ value: { type, call_id: id } }) => type === "function_call_output" && !sent.has(id));
  if (orphan !== undefined && [...conversation.history, ...conversation.said, ...answers, ...approvals].length === 0)
    answers.push(answerIn(orphan));
  return { ...conversation, answers, approvals, behind, resent: resentIn(rest, sent) };
};

interface Numbered {
  readonly value: JsonObject;
  readonly index: number;
}

const isCall = ({ type, call_id: callId }: JsonObject): boolean =>
  typeof type === "string" && type.endsWith("_call") && typeof callId === "string";

/** Whether a call is one that this server made. */
const isOfHere = (callId: Json): boolean => typeof callId === "string" && placeOfItem(callId)?.kind === "call";

const conversationIn = (
  items: readonly Numbered[],
): Pick<ResponseInput, "system" | "history" | "said" | "repaired"> => {
  const read = fromResponseItems(
    items.map(({ value }) => value),
    { repair: true },
  );
  if (Either.isLeft(read)) {
    const place = items[read.left.index ?? 0]?.index ?? 0;
    throw invalid(`input[${place}]: ${withoutRepair(read.left.reason)}`, `input[${place}]`);
  }
  const { system, turns, losses } = read.right;
  const repaired = losses.flatMap(({ index, path, what, why }) =>
    path === "" ? [`input[${items[index]?.index ?? index}]: ${what}: ${why}`] : [],
  );
  const last = turns.at(-1) ?? [];
  const said = last.filter(isSaid);
  return said.length === last.length
    ? { system, history: turns.slice(0, -1), said, repaired }
    : { system, history: turns, said: [], repaired };
};

const resentIn = (
  items: readonly Numbered[],
  sent: ReadonlyMap<Json | undefined, Numbered>,
): readonly ResentAnswer[] => {
  const outputs = items.slice(items.findLastIndex(({ value }) => value["type"] !== "function_call_output") + 1);
  const answers = outputs.flatMap((output): readonly ResentAnswer[] => {
    const { call_id: callId } = output.value;
    const call = sent.get(callId)?.value;
    if (call === undefined || typeof callId !== "string" || placeOfItem(callId)?.kind !== "call") return [];
    const { name, arguments: written } = call;
    if (typeof name !== "string" || typeof written !== "string") return [];
    return [{ ...answerIn(output), name, arguments: written }];
  });
  return answers.length === outputs.length ? answers : [];
};

const isSaid = (draft: SeedDraft): draft is MessageDraft => draft.role !== "assistant" && draft.role !== "tool";

const placeOfReference = (id: Json | undefined, index: number): NamedItem => {
  const place = typeof id === "string" ? placeOfItem(id) : null;
  if (place === null) throw notFound(`input[${index}]: there is no item ${JSON.stringify(id)}; send the item itself`);
  return place;
};

const answerIn = ({ value: item, index }: Numbered): CallAnswer => {
  const { call_id: id } = item;
  const place = typeof id === "string" ? placeOfItem(id) : null;
  if (place?.kind !== "call")
    throw notFound(
      `input[${index}]: no call ${JSON.stringify(id)} waits for its output; send the call as well, before it`,
    );
  const [turn = []] = conversationIn([
    { value: { type: "function_call", call_id: "1", name: "call", arguments: "{}" }, index },
    { value: { ...item, call_id: "1" }, index },
  ]).history;
  const result = turn.find((draft) => draft.role === "tool");
  return { place, output: result?.content ?? "" };
};

const approvalIn = ({ value, index }: Numbered): ApprovalAnswer => {
  const { approval_request_id: id, approve, reason } = value;
  const place = typeof id === "string" ? placeOfItem(id) : null;
  const number = Number(/^mcpr(\d+)$/u.exec(place?.kind ?? "")?.[1]);
  if (place === null || !(number > 0))
    throw notFound(`input[${index}]: there is no approval request ${JSON.stringify(id)}`);
  if (typeof approve !== "boolean")
    throw invalid(`input[${index}]: approve must be true or false`, `input[${index}].approve`);
  return { place, number, approve, reason: typeof reason === "string" ? reason : null };
};

/** Converts a finished call of a host's tool, as a client sends it back, into a call and its result for the model. */
const callAndOutput = ({ value, index }: Numbered): readonly Numbered[] => {
  const { id, name, arguments: written, output, error } = value;
  const call = { call_id: id ?? null, name: name ?? "", arguments: written ?? "{}" };
  return [
    { value: { type: "function_call", ...call }, index },
    { value: { type: "function_call_output", call_id: call.call_id, output: output ?? error ?? "" }, index },
  ];
};

const notFound = (message: string): HttpError => invalid(message, "input", "item_not_found");
