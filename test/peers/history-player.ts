import { fromChatMessages, fromLangChainMessages } from "@colloquy/interchange";
import { lastTurns } from "@colloquy/machine/policies";
import { fromBaseMessages, langchainModel, threadHistory } from "@colloquy/memories/langchain";
import { createHost, type Host, memoryStore, tool } from "@colloquy/runtime-node";
import {
  AIMessage,
  type BaseMessage,
  type BaseMessageLike,
  coerceMessageLikeToMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { RunnableLambda, RunnableWithMessageHistory } from "@langchain/core/runnables";
import { fakeModel } from "@langchain/core/testing";
import * as Either from "fp-ts/lib/Either.js";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { type Player, viewed } from "./table.ts";

const content = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);
const calls = z.array(z.tuple([z.string(), z.record(z.string(), z.json()), z.string()]));

/** A message: its type, its content, and the calls of a model or the id of the call that a tool answers. */
const message = z.union([
  z.tuple([z.enum(["system", "human"]), content]),
  z.tuple([z.literal("ai"), content]).rest(calls),
  z.tuple([z.literal("tool"), content, z.string()]),
]);
type Message = z.infer<typeof message>;

const chat = z.array(z.looseObject({ role: z.string() }));

const step = z.union([
  z.strictObject({ add: z.array(message) }),
  z.strictObject({ clear: z.literal(true) }),
  z.strictObject({ on: z.string() }),
  z.strictObject({ ask: z.string() }),
  /** Runs a chain that answers with all human texts, through LangChain's own `RunnableWithMessageHistory`. */
  z.strictObject({ chain: z.string() }),
  /** Imports messages as OpenAI writes them: read by us, by LangChain, or from what LangChain stores of its messages. */
  z.strictObject({ import: chat, as: z.enum(["chat", "live", "stored"]) }),
]);
type Step = z.infer<typeof step>;

const given = z.strictObject({
  window: z.number().optional(),
  tools: z.array(z.string()).default([]),
  replies: z.array(message).default([]),
  usage: z.tuple([z.number(), z.number()]).optional(),
  steps: z.array(step),
});

/** Plays a history of LangChain on threads, and models of LangChain that answer on them. */
export const playHistory: Player = async (from, views) => {
  const stage = new Stage(given.parse(from));
  return viewed(await stage.play(), views);
};

class Stage {
  readonly #given: z.infer<typeof given>;
  readonly #model = fakeModel();
  readonly #host: Host;
  readonly #results: unknown[] = [];
  #on = "t";

  constructor(from: z.infer<typeof given>) {
    const { window, tools, replies, usage } = (this.#given = from);
    for (const reply of replies) this.#model.respond(withUsage(messageOf(reply), usage));
    this.#host = createHost({
      llm: langchainModel(this.#model),
      store: memoryStore(),
      tools: tools.map(toolNamed),
      ...(window === undefined ? {} : { machine: { policy: lastTurns(window) } }),
    });
    onTestFinished(() => this.#host.close());
  }

  async play(): Promise<Readonly<Record<string, () => unknown>>> {
    for (const each of this.#given.steps) {
      try {
        this.#results.push((await this.#take(each)) ?? null);
      } catch (error) {
        this.#results.push(`! ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    return {
      results: () => this.#results,
      history: async () => (await this.#history().getMessages()).map(rowOf),
      received: () => this.#model.calls.map(({ messages }) => messages.map(rowOf)),
    };
  }

  #history() {
    return threadHistory(this.#host.thread(this.#on));
  }

  async #take(each: Step): Promise<unknown> {
    if ("add" in each) return this.#history().addMessages(each.add.map(messageOf));
    if ("clear" in each) return this.#history().clear();
    if ("on" in each) return void (this.#on = each.on);
    if ("chain" in each) {
      const getMessageHistory = (id: string) => threadHistory(this.#host.thread(id));
      const chain = new RunnableWithMessageHistory({ runnable: repeating, getMessageHistory });
      const said = await chain.invoke([new HumanMessage(each.chain)], { configurable: { sessionId: this.#on } });
      return said.text;
    }
    if ("import" in each) {
      const imported = importedFrom(each.import, each.as);
      if (Either.isLeft(imported)) throw new Error(imported.left.reason);
      await this.#host.importMessages(imported.right, { threadId: this.#on });
      return null;
    }
    const { text, usage } = await this.#host.thread(this.#on).ask(each.ask);
    return this.#given.usage === undefined ? text : [text, usage.inputTokens.sum, usage.outputTokens.sum];
  }
}

const importedFrom = (messages: z.infer<typeof chat>, as: "chat" | "live" | "stored") => {
  if (as === "chat") return fromChatMessages(messages);
  // Cast: a message that LangChain does not know is refused by it.
  const live = messages.map((each) => coerceMessageLikeToMessage(each as BaseMessageLike));
  return as === "live" ? fromBaseMessages(live) : fromLangChainMessages(JSON.parse(JSON.stringify(live)));
};

/** A chain that answers with all that a person said. */
const repeating = RunnableLambda.from(
  (messages: BaseMessage[]) =>
    new AIMessage(
      `you said: ${messages
        .filter((each) => each.getType() === "human")
        .map(({ text }) => text)
        .join("\n")}`,
    ),
);

const toolNamed = (name: string) =>
  tool({ name, description: `The tool ${name}.`, input: { jsonSchema: { type: "object" } }, run: () => `${name} ran` });

const withUsage = (reply: BaseMessage, usage: readonly [number, number] | undefined): BaseMessage =>
  usage === undefined || !AIMessage.isInstance(reply)
    ? reply
    : Object.assign(reply, {
        usage_metadata: { input_tokens: usage[0], output_tokens: usage[1], total_tokens: usage[0] + usage[1] },
      });

const messageOf = (given: Message): BaseMessage => {
  const [type, said] = given;
  // Cast: the content of a row is plain JSON, as LangChain's blocks are.
  const body = said as string;
  if (type === "system") return new SystemMessage(body);
  if (type === "human") return new HumanMessage(body);
  if (type === "tool") return new ToolMessage({ content: body, tool_call_id: given[2] });
  const [, , made = []] = given;
  return new AIMessage({ content: body, tool_calls: made.map(([name, args, id]) => ({ name, args, id })) });
};

const rowOf = (each: BaseMessage): readonly unknown[] => {
  const extra = ToolMessage.isInstance(each)
    ? [each.tool_call_id]
    : AIMessage.isInstance(each) && (each.tool_calls ?? []).length > 0
      ? [(each.tool_calls ?? []).map(({ name, args, id }) => [name, args, id])]
      : [];
  return [each.getType(), each.content, ...extra];
};
