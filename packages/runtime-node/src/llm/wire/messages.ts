import {
  type ContentPart,
  type Json,
  type JsonObject,
  type Message,
  messageFromDraft,
  messageFromReply,
  type Part,
  type Role,
  type ToolCallPart,
  type ToolResultPart,
  toolCallsOf,
  toolResultOf,
} from "@colloquy/machine";
import { wellFormed } from "@colloquy/machine/hosting";
import { isObject, isText, listOf, parseJson, textOf } from "../json/loose-json.ts";
import type { Dialect } from "./dialect.ts";
import { partWithTaken, type Taken, takenFields, takenOf, type WireFormat } from "./fields.ts";
import { callIdOnWire, messageNameOnWire, SeenIds, toolNameOnWire } from "./names.ts";

/** The server that messages go to: what it takes, where it is (`originOf`), and in which format they are written. */
export interface Wire {
  readonly dialect: Dialect;
  readonly origin: string;
  readonly format: WireFormat;
}

/** What is known of the messages of a prompt so far, for those that follow. */
export class WireState {
  /** The ids of its calls, and those of the items that a format writes. */
  readonly ids: SeenIds;
  readonly itemIds: SeenIds;
  /** The role of the last message; null before the first. */
  last: Role | null;
  /** Whether a user or the model has said anything. */
  isBegun: boolean;
  /** The calls of the newest round, by the machine's id, and what is taken of the fields of the reply that asked for them. */
  calls: ReadonlyMap<string, ToolCallPart> = new Map();
  taken: Taken = "none";

  constructor(before?: WireState) {
    this.ids = new SeenIds(before?.ids);
    this.itemIds = new SeenIds(before?.itemIds);
    this.last = before?.last ?? null;
    this.isBegun = before?.isBegun ?? false;
  }
}

/**
 * Returns the messages as a server of the dialect takes them: the pure step before a format writes them. Text is well-formed,
 * arguments are objects, ids of calls are unique, and what says nothing is left out. A message becomes what it becomes
 * whatever follows it, except that the images of a round follow its last result: a prompt may be written in pieces that end
 * where no result follows. The state is changed.
 */
export const wireMessages = (messages: readonly Message[], wire: Wire, state: WireState): readonly Message[] => {
  const written: Message[] = [];
  let shown: ContentPart[] = [];
  const add = (given: Message): void => {
    const message = { ...given, role: roleOnWire(given.role, wire.dialect, state.isBegun) };
    const { id, role } = message;
    if (role === "user" && wire.dialect.noUserAfter.some((each) => each === state.last))
      written.push(messageFromReply(`${id}.after`, id, { content: state.last === "tool" ? afterTool : noAnswer }));
    if (role === "assistant" && !state.isBegun && wire.dialect.firstReply === "marked")
      written.push(messageFromDraft(`${id}.before`, { role: "user", content: noText }));
    written.push(message);
    state.last = role;
    state.isBegun ||= role !== "system" && role !== "developer";
  };
  const showImages = (after: string): void => {
    if (shown.length > 0) add(messageFromDraft(`${after}.images`, { role: "user", content: shown }));
    shown = [];
  };
  let last = "";
  for (const given of messages) {
    const message = wellFormed(given);
    const result = toolResultOf(message);
    if (result === undefined) showImages(last);
    last = message.id;
    if (result !== undefined) {
      const { kept, moved } = resultOnWire(result, wire, state);
      add({ ...message, parts: [kept] });
      shown.push(...moved);
      continue;
    }
    const said = message.role === "assistant" ? replyOnWire(message, wire, state) : inputOnWire(message, wire);
    if (said !== null) add(said);
  }
  showImages(last);
  return written;
};

const roleOnWire = (role: Role, { developers, lateSystem }: Dialect, isBegun: boolean): Role => {
  if (role !== "system" && role !== "developer") return role;
  if (lateSystem === "user" && isBegun) return "user";
  return developers === "system" ? "system" : role;
};

/** What pydantic-ai has Mistral's models say between a result and a question. */
const afterTool = "OK.";

/** Stands for the answer to a question that has none. */
const noAnswer = "(no answer)";

/** Stands for a result without any text. */
const noOutput = { type: "text", text: "(no output)" } as const;

/** Stands for a question without any text, and for the one before a greeting: without it a prompt ends or begins with an answer. */
const noText = "(no text)";

const replyOnWire = (message: Message, wire: Wire, state: WireState): Message | null => {
  const { dialect, origin, format } = wire;
  const taken = takenFields(message, dialect, origin);
  const provider = takenOf(message.provider, taken);
  const calls = toolCallsOf(message).map((call, place) => {
    const written = callOnWire(call, taken, wire, state);
    const owed = place === 0 ? dialect.owedOfCall : null;
    if (owed === null || hasMembers(written.provider, owed) || hasSealed(provider)) return written;
    return { ...written, provider: { ...written.provider, ...owed } };
  });
  if (calls.length > 0) {
    state.calls = new Map(calls.map((call) => [call.callId, call]));
    state.taken = taken;
  }
  const byId = new Map(calls.map((call) => [call.callId, call]));
  const parts = message.parts.flatMap((part): readonly Part[] =>
    part.type === "toolCall" ? [byId.get(part.callId) ?? part] : partWithTaken(asSaid(part, dialect), taken, format),
  );
  const owed = calls.length > 0 ? owedParts(parts, dialect) : [];
  const content = contentOnWire([...owed, ...parts], dialect, "");
  // A reply that is reasoning alone is refused even where an empty one is taken.
  const isEmpty = dialect.blank === "sent" && message.parts.length === 0;
  if (!isEmpty && !stands(provider) && content.every((part) => part.type === "reasoning")) return null;
  return { ...withName(message, dialect), parts: content, ...withProvider(provider) };
};

/** The reasoning that a reply with calls must have, empty if it has none that is taken. */
const owedParts = (parts: readonly Part[], { owedReasoning }: Dialect): readonly Part[] => {
  if (owedReasoning === null) return [];
  const isThere = parts.some((part) => {
    const names = part.type === "reasoning" ? part.provider?.["fields"] : undefined;
    return Array.isArray(names) && names.includes(owedReasoning);
  });
  return isThere ? [] : [{ type: "reasoning", text: "", provider: { fields: [owedReasoning] } }];
};

/** Fields that stand for what a message says. */
const stands = (provider: JsonObject | undefined): boolean =>
  provider?.["function_call"] !== undefined || provider?.["audio"] !== undefined;

/** Routers have the signatures of Gemini among the details of the message. */
const hasSealed = (provider: JsonObject | undefined): boolean =>
  listOf(provider?.["reasoning_details"]).some((detail) => isObject(detail) && isText(detail["data"]));

/** Whether a value has all members of another one, and theirs. */
const hasMembers = (value: Json | undefined, others: JsonObject): boolean =>
  isObject(value) &&
  Object.entries(others).every(([name, other]) =>
    isObject(other) ? hasMembers(value[name], other) : textOf(value[name]) !== "",
  );

const asSaid = (part: Part, { refusals, images }: Dialect): Part => {
  if (part.type === "refusal" && refusals === "text") return { type: "text", text: part.text };
  const isLeftOut = images === "none" ? isFile(part) : part.type === "image" && images !== "everywhere";
  return isLeftOut ? noFile : part;
};

/** Stands for an image or a file that a server does not take. */
const noFile = { type: "text", text: "(a file that can't be shown to this model)" } as const;

const inputOnWire = (message: Message, { dialect, format }: Wire): Message | null => {
  const taken = dialect.fields;
  const isShown = dialect.images === "everywhere" || (dialect.images === "of users" && message.role === "user");
  const parts = message.parts.flatMap((part) => partWithTaken(isShown || !isFile(part) ? part : noFile, taken, format));
  const content = contentOnWire(parts, dialect, "\n");
  const provider = takenOf(message.provider, taken);
  const named = { ...withName(message, dialect), ...withProvider(provider) };
  if (content.length > 0 || dialect.blank === "sent") return { ...named, parts: content };
  return message.role === "user" ? { ...named, parts: [{ type: "text", text: noText }] } : null;
};

/** A call of a custom tool, whose input is a text, becomes one of a function for a server that does not know custom tools. */
const callOnWire = (call: ToolCallPart, taken: Taken, { dialect, format }: Wire, state: WireState): ToolCallPart => {
  const [left = call] = partWithTaken(call, taken, format);
  const isCustom = call.provider?.["type"] === "custom";
  const isTaken = left.provider?.["type"] === "custom" && format !== "model";
  const given = isCustom ? JSON.stringify({ input: call.arguments }) : argumentsOnWire(call.arguments);
  return {
    ...left,
    name: toolNameOnWire(call.name, dialect.toolNames),
    arguments: isTaken ? call.arguments : given,
    providerCallId: callIdOnWire(state.ids, call.providerCallId, call.callId, dialect.callIds),
  };
};

/** Arguments that are an object stay the text that the model wrote. For all others its result says what was wrong. */
const argumentsOnWire = (text: string): string => {
  const value = parseJson(text);
  if (!isObject(value)) return "{}";
  const whole = wellFormed(value);
  return whole === value ? text : JSON.stringify(whole);
};

/** A result under the id of its call, and what of it follows in a message of the user. */
const resultOnWire = (
  result: ToolResultPart,
  { dialect, format }: Wire,
  { calls, taken }: WireState,
): { readonly kept: ToolResultPart; readonly moved: readonly ContentPart[] } => {
  const { callId, content } = result;
  const call = calls.get(callId);
  const named = { ...result, providerCallId: call?.providerCallId ?? result.providerCallId };
  const parts = content.flatMap((part) =>
    dialect.images === "none" && isFile(part)
      ? [noFile]
      : partWithTaken(part, part.type === "opaque" ? taken : dialect.fields, format),
  );
  const isMoved = (part: ContentPart): boolean => isFile(part) && dialect.images === "of users";
  const moved = parts.filter(isMoved);
  const texts = contentOnWire(
    parts.filter((part) => !isMoved(part)),
    dialect,
    "\n",
  ) as readonly ContentPart[];
  const isMarked = texts.length === 0 && dialect.blank === "left out";
  if (moved.length === 0) return { kept: { ...named, content: isMarked ? [noOutput] : texts }, moved };
  const of = `From the result of ${call?.name ?? result.name} (${named.providerCallId ?? callId}):`;
  const kept = texts.length > 0 ? texts : [{ type: "text" as const, text: "See the next message of the user." }];
  return { kept: { ...named, content: kept }, moved: [{ type: "text", text: of }, ...moved] };
};

/** An image, a file or a sound. What only one format can read is for its writer. */
const isFile = (part: Part): boolean =>
  part.type === "image" || (part.type === "opaque" && part.value["type"] !== "foreign");

/** Parts without the blank ones, as one text if the dialect wants that and there is nothing else. */
const contentOnWire = (parts: readonly Part[], { blank, texts }: Dialect, between: string): readonly Part[] => {
  const filled = parts.filter((part) => part.type !== "text" || part.text.trim() !== "");
  const isAlone = filled.every((part) => part.type === "reasoning");
  const said = blank === "sent" || (blank === "beside others" && !isAlone) ? parts : filled;
  if (texts === "listed") return said;
  const plain = said.filter((part) => part.type === "text" || part.type === "data");
  const isAllText = said.every((part) => !isOfList(part)) && plain.every((part) => !("provider" in part));
  if (!isAllText || plain.length < 2) return said;
  const text = plain.map(textOfPart).reduce((one, other) => {
    const meets = between === "" || /\s$/.test(one) || /^\s/.test(other);
    return one + (meets ? "" : between) + other;
  });
  const [first] = plain;
  return said.flatMap((part) => (part === first ? [{ type: "text" as const, text }] : isOfText(part) ? [] : [part]));
};

const isOfText = ({ type }: Part): boolean => type === "text" || type === "data";

/** Whether a part makes a list of the content: reasoning, refusals and calls have fields of their own. */
const isOfList = (part: Part): boolean =>
  part.type === "image" ||
  part.type === "opaque" ||
  ((part.type === "reasoning" || part.type === "refusal") && part.provider?.["part"] !== undefined);

const textOfPart = (part: Part): string => {
  if (part.type === "data") return `${part.field}: ${JSON.stringify(part.value)}`;
  return part.type === "text" ? part.text : "";
};

const withName = ({ name, provider: _, ...message }: Message, { messageNames }: Dialect): Message => {
  const written = isText(name) ? messageNameOnWire(name, messageNames) : undefined;
  return { ...message, ...(written === undefined ? {} : { name: written }) };
};

const withProvider = (provider: JsonObject | undefined): { readonly provider?: JsonObject } =>
  provider === undefined ? {} : { provider };
