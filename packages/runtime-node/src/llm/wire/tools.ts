import type { LlmContext, LlmDelta, LlmOutcome } from "@colloquy/host";
import type { CallLlm, Json, JsonObject, Message, Part, ToolDeclaration } from "@colloquy/machine";
import { wellFormed } from "@colloquy/machine/hosting";
import { isList, isObject, parseJson, textOf } from "../json/loose-json.ts";
import type { Dialect } from "./dialects.ts";
import { nameOnWire } from "./names.ts";
import { completedSchema, withKeys } from "./schemas.ts";

/**
 * The tools of a call as a dialect takes them. Names and keys of properties that it does not take are replaced in all that is
 * sent, and are the own ones again in all that comes.
 */
export class ToolsOnWire {
  /** With schemas that the server takes. */
  readonly declared: readonly ToolDeclaration[];
  readonly #ownNames = new Map<string, string>();
  readonly #ownKeys = new Map<string, string>();
  readonly #wireKeys = new Map<string, string>();
  readonly #dialect: Dialect;

  constructor(offered: readonly ToolDeclaration[], dialect: Dialect) {
    this.#dialect = dialect;
    this.declared = offered.map(({ name, parameters = { type: "object", properties: {} }, ...tool }) =>
      wellFormed({
        ...tool,
        name: this.#name(name),
        parameters: this.#schema(completedSchema(parameters, dialect.schemas)),
      }),
    );
  }

  /** Returns a call with its tools, its choice of one, and the arguments of its history as they are on the wire. */
  written(call: CallLlm): CallLlm {
    const { tools, output, model } = call;
    const named = (member: string, value: Json): Json =>
      (member === "name" || member === "toolName") && typeof value === "string" ? this.#name(value) : value;
    const parameters: { [parameter: string]: Json | undefined } = { ...model };
    const { functions = this.declared, tools: sent = functions } = model;
    const isText = this.#dialect.callsWithoutTools === "text" && isList(sent) && sent.length === 0;
    for (const choice of ["tool_choice", "toolChoice"])
      if (isObject(model[choice])) parameters[choice] = JSON.parse(JSON.stringify(model[choice]), named) as JsonObject;
    // Most calls have no key to replace, and a long history.
    const changed = isText ? withCallsAsText : this.#wireKeys.size > 0 ? this.#message.bind(this) : null;
    return {
      ...call,
      model: wellFormed(parameters),
      ...(tools && { tools: tools.map((tool) => ({ ...tool, name: this.#name(tool.name) })) }),
      ...(output && { output: { ...output, name: this.#name(output.name) } }),
      messages: changed === null ? call.messages : call.messages.map(changed),
    };
  }

  /**
   * Performs a call, whose names and keys are those on the wire, and returns the outcome with the own ones. Arguments with such
   * keys are shown at the end of the reply, since a piece may end in a key.
   */
  async perform(
    onDelta: LlmContext["onDelta"],
    perform: (onDelta: LlmContext["onDelta"]) => Promise<LlmOutcome>,
  ): Promise<LlmOutcome> {
    const own = <Called extends { readonly name: string; readonly arguments: string }>(call: Called): Called => ({
      ...call,
      name: this.#ownNames.get(call.name) ?? call.name,
      arguments: renamedIn(call.arguments, this.#ownKeys),
    });
    const held = new Map<number, Extract<LlmDelta, { type: "toolCall" }>>();
    const outcome = await perform((delta) => {
      if (delta.type !== "toolCall") return onDelta(delta);
      if (this.#ownKeys.size === 0) return onDelta(own(delta));
      const before = held.get(delta.index);
      held.set(delta.index, { ...delta, arguments: (before?.arguments ?? "") + delta.arguments });
      if (before === undefined) onDelta(own({ ...delta, arguments: "" }));
    });
    for (const delta of held.values()) onDelta(own(delta));
    // A partial reply has no calls.
    if (outcome.type === "failed" || outcome.reply.toolCalls === undefined) return outcome;
    return { ...outcome, reply: { ...outcome.reply, toolCalls: outcome.reply.toolCalls.map(own) } };
  }

  #name(name: string): string {
    const written = nameOnWire(name, this.#dialect.toolNames);
    if (written !== name) this.#ownNames.set(written, name);
    return written;
  }

  #schema(schema: JsonObject): JsonObject {
    const { propertyKeys } = this.#dialect;
    if (propertyKeys === null) return schema;
    return withKeys(schema, (key) => {
      const written = nameOnWire(key, propertyKeys);
      if (written === key) return key;
      this.#ownKeys.set(written, key);
      this.#wireKeys.set(key, written);
      return written;
    });
  }

  /** Returns the same message if it has none of the keys. */
  #message(message: Message): Message {
    const parts = message.parts.map((part) => {
      const written = part.type === "toolCall" ? renamedIn(part.arguments, this.#wireKeys) : "";
      return part.type !== "toolCall" || written === part.arguments ? part : { ...part, arguments: written };
    });
    return parts.every((part, index) => part === message.parts[index]) ? message : { ...message, parts };
  }
}

/** Returns a message with texts for calls and results. It is the same one each time, since what is written of it is kept. */
const withCallsAsText = (message: Message): Message => {
  if (message.parts.every(({ type }) => type !== "toolCall" && type !== "toolResult")) return message;
  const known = asTexts.get(message);
  if (known !== undefined) return known;
  const parts = message.parts.flatMap((part): readonly Part[] => {
    if (part.type === "toolResult") return [{ type: "text", text: `Result of ${part.name}:` }, ...part.content];
    return [part.type === "toolCall" ? { type: "text", text: `Called ${part.name} with ${part.arguments}` } : part];
  });
  const text: Message = { ...message, role: message.role === "tool" ? "user" : message.role, parts };
  asTexts.set(message, text);
  return text;
};

const asTexts = new WeakMap<Message, Message>();

/** Returns a JSON text with other keys, and everything else as it is. */
const renamedIn = (json: string, keys: ReadonlyMap<string, string>): string => {
  // Often only the tool has another name, and each piece of a stream would be searched.
  if (keys.size === 0) return json;
  return json.replaceAll(stringsOrKeys, (all: string, begin: string, end: string | undefined) => {
    const key = end === undefined ? undefined : keys.get(textOf(parseJson(`${begin}"`)));
    return key === undefined ? all : `${JSON.stringify(key).slice(0, -1)}${end}`;
  });
};

/**
 * Matches strings, and keys with their colons. A string that was cut off matches to its end: without that the search
 * would begin again at each quote in it.
 */
const stringsOrKeys = /("[^"\\]*(?:\\.[^"\\]*)*)(?:("\s*:)|"|\\?$)/gs;
