import { type LlmContext, type LlmHandler, type LlmOutcome, outputRequest } from "@colloquy/host";
import type { CallLlm, Message, ReplyDraft, ToolDeclaration } from "@colloquy/machine";
import { badRequest } from "../failure/failure.ts";
import { isObject } from "../json/loose-json.ts";
import { type Api, type Dialect, dialectFor, dialects, hostOf } from "./dialects.ts";
import type { Wire } from "./messages.ts";
import { ToolsOnWire } from "./tools.ts";

/** Options of a handler for the server that it calls. */
export interface WireOptions {
  /** The model that is called if neither thread nor ask names one. */
  readonly model?: string;
  /**
   * The dialect of the server: a name, or a dialect of your own. Default: chosen by base URL and model, as the
   * list in the page "Models" says.
   */
  readonly dialect?: string | Dialect;
}

interface ApiHandler {
  /** For errors. */
  readonly name: string;
  readonly wireOf: (call: CallLlm) => Wire;
  /** Declarations for callers that hand none over, if the handler takes any. */
  readonly tools?: readonly ToolDeclaration[] | undefined;
  /** Performs a call. The tools of the context are those to offer. */
  readonly perform: (call: CallLlm, context: LlmContext, wire: Wire) => Promise<LlmOutcome>;
}

/**
 * Makes a handler that follows the dialect of its server. It offers exactly the tools of a call, under names and with schemas
 * that the server takes; the caller sees their own names. It asks for outputs by a tool or an instruction, and records the
 * origin of replies. If the server refuses the provider fields of earlier replies, the handler sends the call once more,
 * without them, and remembers that.
 */
export const handlerOnWire = ({ name, wireOf, tools: ownTools, perform }: ApiHandler): LlmHandler => {
  const refused = new RefusedFields();
  return async (call, context) => {
    const wire = wireOf(call);
    const offered = offeredTools(call, context.tools, ownTools ?? []);
    if (typeof offered === "string") {
      const way = ownTools === undefined ? "" : `, or give ${name} tools`;
      return badRequest(
        `the call offers the tool "${offered}", and ${name} has no declaration of it: hand it over in the context's tools${way}`,
      );
    }
    return refused.send(call, wire, async (given) => {
      const asked = outputRequest(given, { ...context, tools: offered });
      const tools = new ToolsOnWire(asked.context.tools, wire.dialect);
      const sent = tools.written(asked.call);
      const outcome = await tools.perform(asked.context.onDelta, (onDelta) =>
        perform(sent, { ...asked.context, tools: tools.declared, onDelta }, wire),
      );
      return withOrigin(asked.read(outcome), wire.origin);
    });
  };
};

/**
 * Returns the function that finds dialect and origin of a call: by the options of its handler, or else by base URL and model.
 * `address` says where the server is, if `baseURL` only names it.
 */
export const wireFor =
  (
    { baseURL, address = baseURL, options }: { baseURL: string; address?: string | undefined; options: WireOptions },
    api: Api,
  ) =>
  ({ model: { model = options.model ?? "" } }: CallLlm): Wire => {
    const name = typeof model === "string" ? model : "";
    const { dialect } = options;
    // A dialect of a caller in JavaScript may lack members.
    const own = typeof dialect === "object" ? { ...dialects["common"], ...dialect } : dialects[dialect ?? ""];
    return { dialect: own ?? dialectFor(baseURL, name, api), origin: originOf(address, name), format: formats[api] };
  };

const formats = { chat: null, responses: "responses", text: null, "ai-sdk": "model" } as const;

/**
 * Returns the declarations of the tools that a call offers, or the name of one that has none. A call without `tools` offers all
 * declared ones. If the model's parameters contain tools, these replace the offered ones, so none is missing.
 */
const offeredTools = (
  { tools, model, purpose }: CallLlm,
  declared: readonly ToolDeclaration[],
  ownTools: readonly ToolDeclaration[],
): readonly ToolDeclaration[] | string => {
  if (purpose === "summary") return [];
  if (tools === undefined) return declared.length > 0 ? declared : ownTools;
  const known = [...declared, ...ownTools];
  const found = tools.map(({ name }) => known.find((tool) => tool.name === name) ?? name);
  const isOverridden = model["tools"] !== undefined || model["functions"] !== undefined;
  const missing = isOverridden ? undefined : found.find((each) => typeof each === "string");
  return missing ?? found.filter((each) => typeof each !== "string");
};

/**
 * Returns the origin of a reply: the host of the server, and the family of the model (`gpt` of `openai/gpt-5-mini`). Provider
 * fields go back to the same origin only.
 */
export const originOf = (baseURL: string, model: string): string => {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  return `${hostOf(baseURL)} ${/[a-z]+/.exec(name)?.[0] ?? name}`;
};

/** Records the origin of a reply that has anything that only its server can read. */
const withOrigin = (outcome: LlmOutcome, origin: string): LlmOutcome =>
  outcome.type === "completed" && hasFields(outcome.reply)
    ? { ...outcome, reply: { ...outcome.reply, provider: { ...outcome.reply.provider, origin } } }
    : outcome;

/**
 * The refusals of servers that got back what they gave themselves. A refused field of messages is left out of all calls. Refused
 * content (a signature or encrypted reasoning of another account or model, the id of an item) is left out of these messages.
 */
class RefusedFields {
  /** The origins whose replies have a field that is refused. */
  readonly #origins = new Set<string>();
  /** Messages without their fields; null if there are none, since to look up each of a long history costs more than a call. */
  #plain: WeakMap<Message, Message> | null = null;

  /**
   * Sends a call without the fields that are known to be refused. If the server refuses others, sends it once more, without any,
   * and remembers that if it is answered.
   */
  async send(call: CallLlm, wire: Wire, send: (call: CallLlm) => Promise<LlmOutcome>): Promise<LlmOutcome> {
    const owes = wire.dialect.owedReasoning !== null;
    const isKnown = this.#origins.has(wire.origin);
    const known = (message: Message): Message =>
      isKnown ? this.#strip(message, owes) : (this.#plain?.get(message) ?? message);
    const first = isKnown || this.#plain !== null ? withMessages(call, known) : call;
    const outcome = await send(first);
    const refusal = refusalIn(outcome);
    const isOfContent = ofContent.test(refusal);
    if (!isOfContent && !ofFields.test(refusal)) return outcome;
    const plain = withMessages(first, (message) => withoutFields(message, owes && !isOfContent));
    if (plain === first) return outcome;
    const second = await send(plain);
    if (second.type !== "completed") return second;
    if (isOfContent) call.messages.forEach((message) => this.#strip(message, false));
    else this.#origins.add(wire.origin);
    return second;
  }

  /** The same message each time, since what is written of it is kept. */
  #strip(message: Message, owes: boolean): Message {
    const plain = withoutFields(this.#plain?.get(message) ?? message, owes);
    if (plain !== message) (this.#plain ??= new WeakMap()).set(message, plain);
    return plain;
  }
}

const ofContent =
  /encrypted[ _]content|\bsignature|\bthinking block|['"`]thinking['"`]|\breasoning\b.{0,20}\bitem|\binput\[\d+\]\.id\b|\bItem (with id )?'/i;

const ofFields =
  /\breasoning_\w+|\bmessages?\b.{0,60}\b(unsupported|unknown|unexpected|not permitted)|\b(unsupported|unknown|unexpected|unrecognized)\b.{0,40}\bmessages?\b/i;

/** Returns the message with which a server refused a request, before it answered anything. */
export const refusalIn = (outcome: LlmOutcome): string =>
  outcome.type === "failed" && outcome.partial === undefined && outcome.failure.kind === "bad_request"
    ? outcome.failure.message
    : "";

const withMessages = (call: CallLlm, change: (message: Message) => Message): CallLlm => {
  const messages = call.messages.map(change);
  return messages.every((message, index) => message === call.messages[index]) ? call : { ...call, messages };
};

/** Returns a reply without fields of servers, as of another origin, and without owed ones; the same message if it has none. */
const withoutFields = (message: Message, owes: boolean): Message => {
  const { role, parts, provider } = message;
  const hasFields = provider?.["origin"] !== "" && (provider !== undefined || parts.some(hasServerData));
  const isOwing = owes && provider?.["owes"] !== "nothing";
  if (role !== "assistant" || (!hasFields && !isOwing)) return message;
  return { ...message, provider: { ...provider, origin: "", ...(owes && { owes: "nothing" }) } };
};

const hasFields = ({ content, toolCalls = [], provider }: ReplyDraft): boolean =>
  [{ provider }, ...toolCalls, ...(typeof content === "string" ? [] : (content ?? []))].some(hasServerData);

/** Whether a part has fields of its server, or only its server can read it. Sources are for users, and sent to no server. */
const hasServerData = ({ type, provider, value }: { type?: string; provider?: unknown; value?: unknown }): boolean => {
  // The place of a call among the parts is not a field of a server.
  const hasOwn = isObject(provider) && Object.keys(provider).some((name) => name !== "aiPlace");
  return hasOwn || (type === "opaque" && isObject(value) && value["type"] === "foreign" && value["format"] !== "ui");
};
