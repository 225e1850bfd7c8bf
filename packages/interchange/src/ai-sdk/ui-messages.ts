import * as Either from "fp-ts/lib/Either.js";
import { type JsonObject, type Message, toolCallsOf, toolResultOf, type ToolResultPart } from "@colloquy/machine";
import { aiReasons } from "./reasons.ts";
import { type CallIds, callIdsOf } from "../exchange/call-ids.ts";
import { exportLosses } from "../exchange/export-losses.ts";
import { fieldsFor } from "../exchange/foreign.ts";
import { importConversation, type Imported, type ImportOptions } from "../exchange/import-conversation.ts";
import type { ImportProblem } from "../exchange/import-problem.ts";
import type { Exported } from "../exchange/loss.ts";
import type { Reading } from "../exchange/piece.ts";
import type { UiMessage, UiMessagePart } from "./ui-message.ts";
import { carrying, uiPartOf, withoutUi } from "./ui-part.ts";
import { readUiMessages } from "./ui-reading.ts";
import { toolPartOf } from "./ui-tool.ts";

/**
 * Converts a conversation to the `UIMessage`s of the AI SDK (7), as plain JSON. All messages of the model up to the
 * next user message become one message, with a `step-start` before each step; a call and its result become one part.
 * Fields that the SDK has no place for are under `colloquy` in the provider metadata, where an import reads them.
 * `losses` lists everything that cannot be kept.
 */
export const toUiMessages = (messages: readonly Message[]): Exported<readonly UiMessage[]> => {
  const groups = groupsOf(messages);
  const value = groups.map((group) => uiMessage(group.map(({ message }) => message)));
  const placed = groups.map((group, index) => ({ messages: group, from: index, to: index + 1 }));
  return { value, losses: exportLosses(placed, readUiMessages(value), aiReasons) };
};

/**
 * Reads a conversation of stored `UIMessage`s. Returns an error that names the invalid message or part, or the call
 * without a result, and how to fix it. Sources, data parts and calls that a provider ran itself are kept for the AI
 * SDK.
 */
export const fromUiMessages = (
  messages: unknown,
  options: ImportOptions = {},
): Either.Either<ImportProblem, Imported> =>
  Either.chain((reading: Reading) => importConversation(reading, options))(readUiMessages(messages));

interface Placed {
  readonly message: Message;
  readonly index: number;
}

/** Groups messages by UI message. An assistant message with metadata or its own UI id begins another group. */
const groupsOf = (messages: readonly Message[]): readonly (readonly Placed[])[] => {
  const groups: Placed[][] = [];
  for (const [index, message] of messages.entries()) {
    const last = groups.at(-1);
    const goesOn =
      message.role === "tool" ||
      (message.role === "assistant" && message.metadata === undefined && ownId(message) === undefined);
    if (last !== undefined && goesOn && last[0]?.message.role === "assistant") last.push({ message, index });
    else groups.push([{ message, index }]);
  }
  return groups;
};

const ownId = ({ provider }: Message): string | undefined => {
  const { id } = fieldsFor(provider, "ui");
  return typeof id === "string" ? id : undefined;
};

const uiMessage = (group: readonly Message[]): UiMessage => {
  const [first] = group;
  const role =
    first?.role === "developer" ? "system" : first?.role === "tool" ? "assistant" : (first?.role ?? "system");
  const ids = callIdsOf(group);
  const results = new Map(
    group.flatMap((message) => {
      const result = toolResultOf(message);
      return result === undefined ? [] : [[result.callId, result] as const];
    }),
  );
  const parts = group.flatMap((message) => (message.role === "tool" ? [] : partsOf(message, results, ids)));
  return {
    id: (first === undefined ? undefined : ownId(first)) ?? first?.id ?? "",
    role,
    parts,
    ...(first?.metadata === undefined ? {} : { metadata: first.metadata }),
  };
};

const partsOf = (
  message: Message,
  results: ReadonlyMap<string, ToolResultPart>,
  ids: CallIds,
): readonly UiMessagePart[] => {
  const said = message.parts.flatMap(uiPartOf);
  const asked = toolCallsOf(message);
  const calls = asked.map((call) => {
    const isOnlyOne = asked.filter(({ providerCallId }) => providerCallId === call.providerCallId).length === 1;
    return toolPartOf(call, results.get(call.callId), ids.get(call.callId) ?? "", isOnlyOne);
  });
  const parts = withFields(message, said, calls.length > 0);
  return [...(message.role === "assistant" ? [{ type: "step-start" }] : []), ...parts, ...calls];
};

/** Adds the fields of a message to the first part that can hold them. A message without content gets an empty text. */
const withFields = (message: Message, parts: readonly UiMessagePart[], called: boolean): readonly UiMessagePart[] => {
  const { name, role } = message;
  const provider = withoutUi(message.provider);
  const fields: JsonObject = {
    ...(name === undefined ? {} : { name }),
    ...(provider === undefined ? {} : { provider }),
    ...(role === "developer" ? { role } : {}),
  };
  const [first, ...rest] = parts;
  if (Object.keys(fields).length > 0)
    return first !== undefined && carriers.includes(first["type"])
      ? [carrying(first, fields), ...rest]
      : [carrying(nothingSaid, fields), ...parts];
  return first === undefined && !called ? [nothingSaid] : parts;
};

/** A marker for a message without parts. */
const nothingSaid = { type: "text", text: "", providerMetadata: { colloquy: { empty: true } } };

/** The types of parts with provider metadata. */
const carriers: readonly unknown[] = ["text", "reasoning", "file"];
