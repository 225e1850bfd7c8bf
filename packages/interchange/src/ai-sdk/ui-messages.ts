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
 * A conversation as the `UIMessage`s of the AI SDK (7), as plain JSON. What a model said up to the next user's message is one
 * message, a `step-start` before each step; calls and results are one part. What the SDK has no place for stands under
 * `colloquy` in the metadata of its provider, where an import finds it. `losses` says what can't be carried even so.
 */
export const toUiMessages = (messages: readonly Message[]): Exported<readonly UiMessage[]> => {
  const groups = groupsOf(messages);
  const value = groups.map((group) => uiMessage(group.map(({ message }) => message)));
  const placed = groups.map((group, index) => ({ messages: group, from: index, to: index + 1 }));
  return { value, losses: exportLosses(placed, readUiMessages(value), aiReasons) };
};

/**
 * Reads a conversation of `UIMessage`s, as they are stored. Says which message or part is none, which call has no result
 * yet, and the way out. Sources, data parts and what a provider ran by itself are kept for the AI SDK.
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

/** The messages of each UI message. One of a model with metadata or an id of its own there begins another. */
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

/** The parts, with what the message has beside them on the first that can carry it. A message that says nothing has an empty text. */
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

/** Stands for no part at all. */
const nothingSaid = { type: "text", text: "", providerMetadata: { colloquy: { empty: true } } };

/** The types of parts that have metadata of a provider. */
const carriers: readonly unknown[] = ["text", "reasoning", "file"];
