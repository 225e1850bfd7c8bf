import type { LlmContext, LlmDelta, LlmOutcome } from "@colloquy/host";
import type { CallLlm, Json, JsonObject, Message, Part, ReplyDraft, ToolDeclaration } from "@colloquy/machine";
import { wellFormed } from "@colloquy/machine/hosting";
import { isObject, parseJson } from "../json/loose-json.ts";
import type { Dialect } from "./dialect.ts";
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
    for (const choice of ["tool_choice", "toolChoice"])
      if (isObject(model[choice])) parameters[choice] = JSON.parse(JSON.stringify(model[choice]), named) as JsonObject;
    // The schema of another output is no tool's.
    const schema = output?.mode === "tool" ? this.#schema(output.schema) : output?.schema;
    return {
      ...call,
      model: wellFormed(parameters),
      ...(tools && { tools: tools.map((tool) => ({ ...tool, name: this.#name(tool.name) })) }),
      ...(output && schema && { output: { ...output, name: this.#name(output.name), schema } }),
      messages: this.#wireKeys.size === 0 ? call.messages : call.messages.map((each) => this.#message(each)),
    };
  }

  /** Returns a listener for the names on the wire. */
  listener(onDelta: LlmContext["onDelta"]): LlmContext["onDelta"] {
    if (this.#ownNames.size === 0) return onDelta;
    return (delta) => onDelta(delta.type === "toolCall" ? this.#withOwnName(delta) : delta);
  }

  /** Returns the outcome with the own names of its calls. A partial reply has none. */
  withOwnNames(outcome: LlmOutcome): LlmOutcome {
    return this.#ownNames.size === 0 ? outcome : withCalls(outcome, (call) => this.#withOwnName(call));
  }

  /**
   * Performs a call whose arguments have keys as they are on the wire, and returns the outcome with the own ones. Arguments are
   * shown at the end of the reply, since a piece may end in a key.
   */
  async withOwnKeys(
    onDelta: LlmContext["onDelta"],
    perform: (onDelta: LlmContext["onDelta"]) => Promise<LlmOutcome>,
  ): Promise<LlmOutcome> {
    const keys = this.#ownKeys;
    if (keys.size === 0) return perform(onDelta);
    const held = new Map<number, Extract<LlmDelta, { type: "toolCall" }>>();
    const outcome = await perform((delta) => {
      if (delta.type !== "toolCall") return onDelta(delta);
      const before = held.get(delta.index);
      held.set(delta.index, { ...delta, arguments: (before?.arguments ?? "") + delta.arguments });
      if (before === undefined) onDelta({ ...delta, arguments: "" });
    });
    for (const delta of held.values()) onDelta({ ...delta, arguments: renamedIn(delta.arguments, keys) });
    return withCalls(outcome, (call) => ({ ...call, arguments: renamedIn(call.arguments, keys) }));
  }

  #name(name: string): string {
    const written = nameOnWire(name, this.#dialect.toolNames);
    if (written !== name) this.#ownNames.set(written, name);
    return written;
  }

  #withOwnName<Named extends { readonly name: string }>(named: Named): Named {
    return { ...named, name: this.#ownNames.get(named.name) ?? named.name };
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
      if (part.type !== "toolCall") return part;
      const written = renamedIn(part.arguments, this.#wireKeys);
      return written === part.arguments ? part : { ...part, arguments: written };
    });
    return parts.every((part, index) => part === message.parts[index]) ? message : { ...message, parts };
  }
}

/** Returns a call whose history has texts for calls and results. They are the same messages each time, since these are kept. */
export const withCallsAsText = (call: CallLlm): CallLlm => ({
  ...call,
  messages: call.messages.map((message) => {
    const text = asTexts.get(message) ?? asText(message);
    if (text !== message) asTexts.set(message, text);
    return text;
  }),
});

const asTexts = new WeakMap<Message, Message>();

const asText = (message: Message): Message => {
  if (message.parts.every(({ type }) => type !== "toolCall" && type !== "toolResult")) return message;
  const parts = message.parts.flatMap((part): readonly Part[] => {
    if (part.type === "toolResult") return [{ type: "text", text: `Result of ${part.name}:` }, ...part.content];
    return [part.type === "toolCall" ? { type: "text", text: `Called ${part.name} with ${part.arguments}` } : part];
  });
  return { ...message, role: message.role === "tool" ? "user" : message.role, parts };
};

const withCalls = (
  outcome: LlmOutcome,
  change: (call: NonNullable<ReplyDraft["toolCalls"]>[number]) => NonNullable<ReplyDraft["toolCalls"]>[number],
): LlmOutcome =>
  outcome.type === "completed" && outcome.reply.toolCalls !== undefined
    ? { ...outcome, reply: { ...outcome.reply, toolCalls: outcome.reply.toolCalls.map(change) } }
    : outcome;

/** Returns a JSON text with other keys, and everything else as it is. */
const renamedIn = (json: string, keys: ReadonlyMap<string, string>): string =>
  json.replaceAll(/("(?:[^"\\]|\\.)*")(\s*:)?/gs, (all: string, name: string, colon: string | undefined) => {
    const key = colon === undefined ? undefined : keys.get(String(parseJson(name)));
    return key === undefined ? all : `${JSON.stringify(key)}${colon}`;
  });
