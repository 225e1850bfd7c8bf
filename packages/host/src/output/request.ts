import { type CallLlm, digestOf, messageFromDraft, type Message, type ReplyDraft } from "@colloquy/machine";
import type { LlmContext, LlmDelta, LlmOutcome } from "../ports/llm.ts";

/** A model call that asks for an output, and the function that reads its answer. */
export interface OutputRequest {
  readonly call: CallLlm;
  readonly context: LlmContext;
  /** Returns the outcome with the output as the text of its reply. */
  readonly read: (outcome: LlmOutcome) => LlmOutcome;
}

/**
 * Asks a model for an output in a way that any handler can: `prompted` by an instruction in the system message, `tool`
 * by an additional tool. The arguments of that tool are the answer: they become the text of the reply, and their deltas
 * become text. The handler must add, in its provider's format, that the model has to call the tool (`tool_choice`), and
 * everything for `native`. Any other call is unchanged.
 */
export const outputRequest = (call: CallLlm, context: LlmContext): OutputRequest => {
  switch (call.output?.mode) {
    case "prompted":
      return { call: { ...call, messages: instructed(call.messages, call.output) }, context, read: asItIs };
    case "tool":
      return byTool(call, call.output, context);
    default:
      return { call, context, read: asItIs };
  }
};

type Output = NonNullable<CallLlm["output"]>;

const asItIs = (outcome: LlmOutcome): LlmOutcome => outcome;

/** Adds the instruction to the end of the system message, or adds a message if there is none. */
const instructed = (messages: readonly Message[], { name, schema }: Output): readonly Message[] => {
  const text = `Answer with JSON that fits this JSON Schema of "${name}", and with nothing else:\n${JSON.stringify(schema)}`;
  const [first, ...others] = messages;
  const leads = first?.role === "system" || first?.role === "developer";
  const role = leads ? first.role : "system";
  const said = leads ? first.parts.filter((part) => part.type === "text" || part.type === "data") : [];
  const content = [...said, { type: "text", text: said.length === 0 ? text : `\n\n${text}` }] as const;
  return [messageFromDraft(leads ? first.id : "output", { role, content }), ...(leads ? others : messages)];
};

const byTool = (call: CallLlm, { name, schema }: Output, context: LlmContext): OutputRequest => {
  const description = "Gives the answer. Call it once, when the answer is ready.";
  const offered = { name, digest: digestOf({ name, description, parameters: schema }) };
  const deltas = new OutputDeltas(name, context.onDelta);
  return {
    call: call.tools === undefined ? call : { ...call, tools: [...call.tools, offered] },
    context: {
      ...context,
      tools: [...context.tools, { name, description, parameters: schema }],
      onDelta: (delta) => deltas.add(delta),
    },
    read: (outcome) => {
      deltas.end();
      return outcome.type === "completed" ? { ...outcome, reply: replyByTool(outcome.reply, name) } : outcome;
    },
  };
};

/** Returns the arguments as the answer. With other calls beside it, it is not an answer yet. */
const replyByTool = (reply: ReplyDraft, name: string): ReplyDraft => {
  const { toolCalls = [], ...others } = reply;
  const given = toolCalls.find((each) => each.name === name);
  if (given === undefined) return reply;
  const left = toolCalls.filter((each) => each.name !== name);
  if (left.length > 0) return { ...others, toolCalls: left };
  // Servers write null for none, and a handler may pass it on.
  const content = reply.content ?? [];
  const thought = typeof content === "string" ? [] : content.filter(({ type }) => type === "reasoning");
  return { ...others, content: [...thought, { type: "text", text: given.arguments }] };
};

/** Shows the arguments of the output as text. Text beside them is shown only if they do not arrive. */
class OutputDeltas {
  readonly #name: string;
  readonly #show: (delta: LlmDelta) => void;
  readonly #texts: LlmDelta[] = [];
  /** The new index of each call of another tool, by its index in the reply. */
  readonly #places = new Map<number, number>();
  #output: number | null = null;

  constructor(name: string, show: (delta: LlmDelta) => void) {
    this.#name = name;
    this.#show = show;
  }

  add(delta: LlmDelta): void {
    if (delta.type === "text") this.#texts.push(delta);
    else if (delta.type !== "toolCall") this.#show(delta);
    else if (delta.name === this.#name) {
      this.#output ??= delta.index;
      if (this.#output === delta.index && delta.arguments !== "") this.#show({ type: "text", text: delta.arguments });
    } else {
      const index = this.#places.get(delta.index) ?? this.#places.size;
      this.#places.set(delta.index, index);
      this.#show({ ...delta, index });
    }
  }

  end(): void {
    if (this.#output === null) for (const delta of this.#texts) this.#show(delta);
  }
}
