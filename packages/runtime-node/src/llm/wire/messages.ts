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
import { defined, isObject, isText, listOf, parseJson, textOf } from "../json/loose-json.ts";
import type { Dialect } from "./dialects.ts";
import { callIdOnWire, messageNameOnWire, SeenIds, nameOnWire } from "./names.ts";

/** The server that messages go to: what it takes, where it is (`originOf`), and the format of the messages. */
export interface Wire {
  readonly dialect: Dialect;
  readonly origin: string;
  readonly format: WireFormat;
}

/** The format of `@colloquy/interchange` whose own parts are written; null for chat completions, which have none. */
export type WireFormat = "responses" | "model" | null;

/** The provider fields of a message that go to a server. */
type Taken = "all" | "none" | readonly string[];

/** The state after the messages of a prompt so far, for those that follow. */
export class WireState {
  readonly ids: SeenIds;
  /** The ids of the items that a format writes. */
  readonly itemIds: SeenIds;
  /** The role of the last message; null before the first. */
  last: Role | null;
  /** Whether a user or the model has said anything. */
  isBegun: boolean;
  /** The calls of the newest round since the last question, by the machine's id, and the fields that are taken of their reply. */
  calls: ReadonlyMap<string, ToolCallPart>;
  taken: Taken;

  constructor(before?: WireState) {
    this.ids = new SeenIds(before?.ids);
    this.itemIds = new SeenIds(before?.itemIds);
    this.last = before?.last ?? null;
    this.isBegun = before?.isBegun ?? false;
    this.calls = before?.calls ?? new Map();
    this.taken = before?.taken ?? "none";
  }
}

/**
 * Returns the messages as a server of the dialect takes them, before a format writes them. Text is well-formed, arguments are
 * objects, ids of calls are unique, and messages that say nothing are left out. Later messages do not change earlier ones,
 * except that the images of a round follow its last result, and that system messages at the beginning may become one. So a
 * prompt may be written in pieces that end before a message that is neither a result nor a system message. Changes the state.
 */
export const wireMessages = (messages: readonly Message[], wire: Wire, state: WireState): readonly Message[] => {
  const written: Message[] = [];
  let shown: ContentPart[] = [];
  const add = (given: Message): void => {
    const role = roleOnWire(given.role, wire.dialect, state.isBegun);
    // Most keep theirs, and a long history has many.
    const message = role === given.role ? given : { ...given, role };
    const { id } = message;
    const before = written.at(-1);
    if (wire.dialect.systems === "one" && isSystem(role) && before !== undefined) {
      written.pop();
      written.push(joinedSystem(before, message, wire.dialect));
      return;
    }
    if (role === "user" && wire.dialect.noUserAfter.some((each) => each === state.last))
      written.push(messageFromReply(`${id}.after`, id, { content: state.last === "tool" ? afterTool : noAnswer }));
    if (role === "assistant" && isUnasked(message, wire.dialect, state))
      written.push(messageFromDraft(`${id}.before`, { role: "user", content: noText }));
    written.push(message);
    state.last = role;
    state.isBegun ||= !isSystem(role);
    if (role === "user" && state.calls.size > 0) state.calls = new Map();
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

const isSystem = (role: Role): boolean => role === "system" || role === "developer";

const roleOnWire = (role: Role, { developers, systems }: Dialect, isBegun: boolean): Role => {
  if (!isSystem(role)) return role;
  if (systems === "one" && isBegun) return "user";
  return developers === "system" ? "system" : role;
};

/** Whether a reply needs a question before it, which the thread does not have. */
const isUnasked = (
  { parts }: Message,
  { firstReply, replyAfterReply }: Dialect,
  { isBegun, last }: WireState,
): boolean => {
  if (!isBegun) return firstReply === "marked";
  if (last !== "assistant" || replyAfterReply === "taken") return false;
  return replyAfterReply === "marked" || parts.some(({ type }) => type === "toolCall");
};

const joinedSystem = (one: Message, other: Message, dialect: Dialect): Message => ({
  ...one,
  ...other,
  role: one.role,
  parts: contentOnWire([...one.parts, ...other.parts], { ...dialect, texts: "joined" }, "\n\n"),
});

/** pydantic-ai has Mistral's models say so between a result and a question. */
const afterTool = "OK.";

/** Stands for the answer to a question that has none. */
const noAnswer = "(no answer)";

const textPart = (text: string) => ({ type: "text", text }) as const;

/** Stands for a result without text. */
const noOutput = textPart("(no output)");

/** Stands for a question without text, and for the one before a greeting or between two replies. */
const noText = "(no text)";

/** Stands for an image or a file that a server does not take. */
const noFile = textPart("(a file that can't be shown to this model)");

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
  const byId = new Map(calls.map((call) => [call.callId, call]));
  if (calls.length > 0) [state.calls, state.taken] = [byId, taken];
  const parts = message.parts.flatMap((part): readonly Part[] =>
    part.type === "toolCall" ? [byId.get(part.callId) ?? part] : partWithTaken(replyPart(part, dialect), taken, format),
  );
  const isOwed = state.calls.size > 0 && message.provider?.["owes"] !== "nothing";
  const owed = isOwed ? owedParts(parts, dialect) : [];
  const content = contentOnWire([...owed, ...parts], dialect, "");
  // Servers refuse a reply of reasoning alone even if they take an empty one.
  const isEmpty = dialect.blank === "sent" && message.parts.length === 0;
  const isSaid = provider?.["function_call"] !== undefined || provider?.["audio"] !== undefined;
  if (!isEmpty && !isSaid && content.every((part) => part.type === "reasoning")) return null;
  return messageWith(message, dialect, content, provider);
};

/** Returns the reasoning that a reply of a turn with calls must have: what is taken of its own, or else an empty one. */
const owedParts = (parts: readonly Part[], { owedReasoning }: Dialect): readonly Part[] => {
  if (owedReasoning === null) return [];
  const own = parts
    .filter((part) => part.type === "reasoning")
    .map(({ text, provider }) => [provider?.["fields"], text]);
  const [, text = ""] = own.find(([fields]) => listOf(fields).includes(owedReasoning)) ?? own[0] ?? [];
  return [{ type: "reasoning", text: textOf(text), provider: { owed: owedReasoning } }];
};

/** Routers have the signatures of Gemini among the details of the message. */
const hasSealed = (provider: JsonObject | undefined): boolean =>
  listOf(provider?.["reasoning_details"]).some((detail) => isObject(detail) && isText(detail["data"]));

/** Whether a value has all members of another one, at each depth. */
const hasMembers = (value: Json | undefined, others: JsonObject): boolean =>
  isObject(value) &&
  Object.entries(others).every(([name, other]) =>
    isObject(other) ? hasMembers(value[name], other) : textOf(value[name]) !== "",
  );

const replyPart = (part: Part, dialect: Dialect): Part => {
  if (part.type === "refusal" && dialect.refusals === "text") return textPart(part.text);
  const isLeftOut = isRefused(part, dialect) || (part.type === "image" && dialect.images !== "everywhere");
  return isLeftOut ? noFile : part;
};

const inputOnWire = (message: Message, { dialect, format }: Wire): Message | null => {
  const { fields: taken, images, blank } = dialect;
  const isShown = images === "everywhere" || (images === "of users" && message.role === "user");
  const parts = message.parts.flatMap((part) =>
    partWithTaken((isShown || !isFile(part)) && !isRefused(part, dialect) ? part : noFile, taken, format),
  );
  const content = contentOnWire(parts, dialect, "\n");
  const isSent = content.length > 0 || blank === "sent";
  if (!isSent && message.role !== "user") return null;
  return messageWith(message, dialect, isSent ? content : [textPart(noText)], takenOf(message.provider, taken));
};

const messageWith = (
  given: Message,
  { messageNames }: Dialect,
  parts: readonly Part[],
  provider: JsonObject | undefined,
): Message => {
  // Most have neither, and taking members away costs as much as all else.
  if (given.name === undefined && given.provider === undefined && provider === undefined) return { ...given, parts };
  const { name: own, provider: _, ...message } = given;
  const name = isText(own) ? messageNameOnWire(own, messageNames) : undefined;
  return { ...message, parts, ...defined({ name, provider }) };
};

/** A call of a custom tool, whose input is a text, becomes a function call for a server that does not know custom tools. */
const callOnWire = (call: ToolCallPart, taken: Taken, { dialect, format }: Wire, state: WireState): ToolCallPart => {
  const [left = call] = partWithTaken(call, taken, format);
  const isCustom = call.provider?.["type"] === "custom";
  const isTaken = left.provider?.["type"] === "custom" && format !== "model";
  const given = isCustom ? JSON.stringify({ input: call.arguments }) : argumentsOnWire(call.arguments);
  return {
    ...left,
    name: nameOnWire(call.name, dialect.toolNames),
    arguments: isTaken ? call.arguments : given,
    providerCallId: callIdOnWire(state.ids, call.providerCallId, call.callId, dialect.callIds),
  };
};

/** An object stays the text that the model wrote. The result of a call with other arguments says what was wrong. */
const argumentsOnWire = (text: string): string => {
  const value = parseJson(text);
  if (!isObject(value)) return "{}";
  const whole = wellFormed(value);
  return whole === value ? text : JSON.stringify(whole);
};

/** Returns a result under the id of its call, and the parts of it that follow in a message of the user. */
const resultOnWire = (
  result: ToolResultPart,
  { dialect, format }: Wire,
  { calls, taken }: WireState,
): { readonly kept: ToolResultPart; readonly moved: readonly ContentPart[] } => {
  const { callId, content } = result;
  const call = calls.get(callId);
  const id = call?.providerCallId ?? result.providerCallId;
  const parts = content.flatMap((part) =>
    isRefused(part, dialect) ? [noFile] : partWithTaken(part, part.type === "opaque" ? taken : dialect.fields, format),
  );
  const isMoved = (part: ContentPart): boolean => isFile(part) && dialect.images === "of users";
  const moved = parts.filter(isMoved);
  const others = parts.filter((part) => !isMoved(part));
  // Content stays content.
  let kept = contentOnWire(others, dialect, "\n") as readonly ContentPart[];
  if (kept.length === 0 && moved.length > 0) kept = [textPart("See the next message of the user.")];
  else if (kept.length === 0 && dialect.blank === "left out") kept = [noOutput];
  if (moved.length > 0) moved.unshift(textPart(`From the result of ${call?.name ?? result.name} (${id ?? callId}):`));
  return { kept: { ...result, providerCallId: id, content: kept }, moved };
};

/** An image, a file or a sound. A foreign part is for the writer of its format. */
const isFile = (part: Part): boolean =>
  part.type === "image" || (part.type === "opaque" && part.value["type"] !== "foreign");

/** Whether servers of a dialect refuse a file in every message. */
const isRefused = (part: Part, { images, files }: Dialect): boolean =>
  isFile(part) &&
  (images === "none" || (part.type === "opaque" && files !== "all" && !files.includes(textOf(part.value["type"]))));

/** Returns the parts without the blank ones, as one text if the dialect wants that and there is nothing else. */
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
  // By place: the same object may stand for several files.
  const first = said.findIndex((part) => part.type === "text" || part.type === "data");
  return said
    .with(first, textPart(text))
    .filter((part, index) => index === first || (part.type !== "text" && part.type !== "data"));
};

/** Whether a part makes a list of the content: reasoning, refusals and calls have fields of their own. */
const isOfList = (part: Part): boolean =>
  part.type === "image" ||
  part.type === "opaque" ||
  ((part.type === "reasoning" || part.type === "refusal") && part.provider?.["part"] !== undefined);

const textOfPart = (part: Extract<Part, { type: "text" | "data" }>): string =>
  part.type === "data" ? `${part.field}: ${JSON.stringify(part.value)}` : part.text;

/** Returns the provider fields of a message that a server takes: none of a reply that another server wrote. */
const takenFields = ({ provider }: Message, { fields, ownFields }: Dialect, origin: string): Taken => {
  const { origin: recorded } = provider ?? {};
  if (typeof recorded !== "string") return fields;
  return recorded !== origin ? "none" : ownFields ? "all" : fields;
};

const takenOf = (provider: JsonObject | undefined, taken: Taken): JsonObject | undefined => {
  if (provider === undefined || taken === "none") return undefined;
  // `output` says how a part was an output, and is not a field on the wire.
  const isTaken = (name: string): boolean => taken === "all" || name === "output" || taken.includes(name);
  const left = Object.entries(provider).filter(([name]) => name !== "origin" && isTaken(name));
  return left.length === 0 ? undefined : Object.fromEntries(left);
};

/** Returns the part with the fields that are taken; nothing for a part that only another server or format can read. */
const partWithTaken = <Any extends Part>(part: Any, taken: Taken, format: WireFormat): readonly Any[] => {
  if (part.type === "opaque")
    return part.value["type"] === "foreign" && (taken === "none" || part.value["format"] !== format) ? [] : [part];
  if (!("provider" in part) || part.provider === undefined || (part.type === "reasoning" && taken === "all"))
    return part.type === "reasoning" && taken !== "all" ? [] : [part];
  const { provider, ...others } = part;
  let left = takenOf(provider, taken);
  if (part.type === "reasoning") {
    // Reasoning is sent if one of the names under which it came is taken, or the part that it was.
    const names: readonly unknown[] = typeof taken === "string" ? [] : taken;
    const fields = listOf(provider["fields"]).filter((name) => names.includes(name));
    if (fields.length > 0) left = { ...left, fields };
    if (left === undefined) return [];
  }
  // The same part, without some of its fields.
  return [{ ...others, ...defined({ provider: left }) } as unknown as Any];
};
