import {
  createHost,
  declarationsOf,
  EventRefusedError,
  type Host,
  type LlmOutcome,
  memoryStore,
  tool,
} from "@colloquy/host";
import type { HostOptions, LlmHandler, Tool, ToolDefinition } from "@colloquy/host";
import { conversationMachine, type ConversationMachine, type Entry, type JsonObject, textOf } from "@colloquy/machine";
import { sequentialIds, type VirtualClock } from "@colloquy/runtime-test";

/** The kinds of asks in a conversation, one after the other; the model's behaviour follows from the first word. */
export const kinds =
  "plain lookup notify charge verify refund two both retry cancel steer queue interrupt deadline output caller redact delete".split(
    " ",
  );

export interface Plan {
  readonly kinds: readonly string[];
  /** The ask in which its first host disappears: it waits for an approval, calls a model, or runs a tool. */
  readonly movedAt: "refund" | "steer" | "charge" | null;
  /**
   * Whether the shown part of a cut-off reply counts. It does not if another process may have started the reply again.
   */
  readonly isShown: boolean;
}

/** The outcome of a conversation. */
export interface Held {
  readonly journal: readonly Entry[];
  readonly results: readonly { readonly askId: string; readonly came: string }[];
}

const threadId = "t";

/** The world outside of all processes: the models and tools that they call. */
export class World {
  readonly clock: VirtualClock;
  /** The runs of tools, by the keys of their calls. */
  readonly ran: string[] = [];
  readonly tools: readonly Tool[];
  readonly machine: ConversationMachine;
  readonly isShown: boolean;
  readonly #gates = new Map<string, Gate>();

  constructor(clock: VirtualClock, { isShown }: Plan) {
    this.clock = clock;
    this.isShown = isShown;
    this.tools = Object.entries(rules).map(([name, rule], index) => {
      const run: ToolDefinition<typeof numbered>["run"] = async (input, { idempotencyKey }) => {
        this.ran.push(idempotencyKey);
        await this.pause(5 + index * 7);
        return { done: `${name} ${JSON.stringify(input)}` };
      };
      return tool({ name, description: `Does what "${name}" says.`, input: numbered, ...rule, run });
    });
    const tools = declarationsOf(this.tools);
    this.machine = conversationMachine({ tools, retry: { attempts: 3, baseDelayMs: 20 } });
  }

  /** Makes a host in memory, or over a store. */
  host(options: Partial<HostOptions> = {}): Host {
    const { clock, machine, tools, llm } = this;
    return createHost({ clock, machine, tools, llm, store: memoryStore({ clock }), ids: sequentialIds(), ...options });
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.wakeAt(this.clock.now() + ms, resolve));
  }

  /** Returns the gate by which a model call reports its start, and at which it waits for its end. */
  gate(asked: string): Gate {
    const gate = this.#gates.get(asked) ?? { begun: Promise.withResolvers(), opened: Promise.withResolvers() };
    this.#gates.set(asked, gate);
    return gate;
  }

  readonly llm: LlmHandler = async ({ messages, attempt, step }, { onDelta, signal }) => {
    // A user message that the machine writes does not begin with a kind.
    const question = messages.findLast((message) => message.role === "user" && isKind(textOf(message).split(" ")[0]));
    const asked = question === undefined ? "" : textOf(question);
    const [kind = "", number = ""] = asked.split(" ");
    await this.pause(10);
    const hangs = kind === "cancel" || kind === "deadline" || kind === "interrupt";
    if (hangs && this.isShown) onDelta({ type: "text", text: asked });
    this.gate(asked).begun.resolve();
    if (hangs) await new Promise((_, reject) => signal.addEventListener("abort", reject));
    if (kind === "steer" || kind === "queue") await this.gate(asked).opened.promise;
    if (kind === "output") return says(step === 1 ? '{"n":"one"}' : '{"n":1}');
    if (messages.at(-1) !== question) return says(`done ${asked}`);
    if (kind === "retry" && attempt === 1)
      return { type: "failed", failure: { kind: "overloaded", message: "busy", retryable: true } };
    const names = called[kind] ?? [];
    if (names.length === 0) return says(`answer to ${asked}`);
    const toolCalls = names.map((name, index) => ({ id: `call_${index}`, name, arguments: `{"n":${number}}` }));
    return { type: "completed", reply: { toolCalls }, finishReason: "tool_calls" };
  };
}

const isKind = (word: string | undefined): boolean => kinds.some((kind) => kind === word);

interface Gate {
  readonly begun: PromiseWithResolvers<void>;
  readonly opened: PromiseWithResolvers<void>;
}

const numbered = {
  jsonSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } satisfies JsonObject,
};

const rules: Readonly<Record<string, Pick<ToolDefinition<typeof numbered>, "recovery" | "approval">>> = {
  lookup: { recovery: "rerun" },
  notify: {},
  charge: { recovery: "once" },
  verify: { recovery: "ask" },
  refund: { recovery: "once", approval: "always" },
};

const called: Readonly<Record<string, readonly string[]>> = {
  lookup: ["lookup"],
  notify: ["notify"],
  charge: ["charge"],
  verify: ["verify"],
  refund: ["refund"],
  two: ["lookup", "notify"],
  both: ["charge", "lookup"],
  caller: ["pick"],
};

const says = (content: string): LlmOutcome => ({ type: "completed", reply: { content }, finishReason: "stop" });

/** Holds a conversation on a host. */
export const converse = async (world: World, host: Host, plan: Plan): Promise<Held> => {
  const user = new User(world, host);
  if (plan.movedAt !== null) await user.moveHere(plan.movedAt);
  for (const [index, kind] of plan.kinds.entries()) await user.act(kind, index);
  const thread = host.thread(threadId);
  return { journal: await thread.exportJournal(), results: user.results };
};

type AskOptions = Parameters<Host["ask"]>[1];

class User {
  readonly results: Held["results"][number][] = [];
  readonly #world: World;
  readonly #host: Host;

  constructor(world: World, host: Host) {
    this.#world = world;
    this.#host = host;
  }

  async act(kind: string, index: number): Promise<void> {
    const [input, askId] = [`${kind} ${index}`, `a${index}`];
    const thread = this.#host.thread(threadId);
    const gate = this.#world.gate(input);
    const asked = this.#ask(input, askId, optionsOf(kind));
    if (kind === "cancel") {
      await gate.begun.promise;
      await thread.cancel("enough");
    }
    if (kind === "steer" || kind === "queue" || kind === "interrupt") {
      await gate.begun.promise;
      const second = this.#ask(`plain ${input}`, `${askId} too`, { overlap: kind });
      await this.#journalled(`${askId} too`);
      gate.opened.resolve();
      await second;
    }
    const turn = await asked;
    if (kind === "redact") await thread.redact({ turn });
    if (kind !== "delete") return;
    await thread.delete();
    // The next thread under this id has calls with the same ids.
    this.#world.ran.length = 0;
    await this.#ask(`plain ${input}`, askId);
  }

  /** Imports a thread from another host, which is closed. */
  async moveHere(kind: string): Promise<void> {
    const [input, askId] = [`${kind} 100`, "before"];
    const other = this.#world.host();
    await other.thread(threadId).start();
    // Enough turns for snapshots with chunks.
    const turns = kind === "charge" ? 70 : 0;
    for (let turn = 1; turn <= turns; turn++)
      await other.thread(threadId).addTurn([{ role: "user", content: `turn ${turn}` }]);
    const handle = other.ask(input, { threadId, askId });
    handle.catch(() => {});
    const gate = this.#world.gate(input);
    await gate.begun.promise;
    if (kind === "refund") for await (const part of handle) if (part.type === "approval.requested") break;
    while (kind === "charge" && this.#world.ran.length === 0) await this.#world.pause(1);
    const entries = await other.thread(threadId).exportJournal();
    await other.close();
    gate.opened.resolve();
    await this.#host.importJournal(entries, { threadId });
    await this.#ask(input, askId);
  }

  /** Returns its turn; 0 if it did not complete. */
  #ask(input: string, askId: string, options: AskOptions = {}): Promise<number> {
    const asked = this.#hold(input, askId, options);
    // It may fail while something else is awaited.
    asked.catch(() => {});
    return asked;
  }

  async #hold(input: string, askId: string, options: AskOptions): Promise<number> {
    const handle = this.#host.ask(input, { threadId, askId, ...options });
    const came = handle.then(
      ({ turn, text }) => ({ turn, came: `${turn} ${text}` }),
      // Removes how long it took.
      (failure: Error) => ({ turn: 0, came: `${failure.name}: ${failure.message.replace(/\d+ passed/u, "passed")}` }),
    );
    const thread = this.#host.thread(threadId);
    for await (const part of handle) {
      if (part.type === "approval.requested") await thread.approve(part.request.id).catch(unlessAnswered);
      if (part.type === "result.requested") await thread.answerTool(part.callId, "12C").catch(unlessAnswered);
    }
    const { turn, came: words } = await came;
    this.results.push({ askId, came: words });
    return turn;
  }

  async #journalled(askId: string): Promise<void> {
    const isThere = ({ event }: Entry): boolean => event.type === "ask.received" && event.askId === askId;
    while (!(await this.#host.thread(threadId).exportJournal()).some(isThere)) await this.#world.pause(20);
  }
}

const optionsOf = (kind: string): AskOptions => {
  if (kind === "deadline") return { limits: { deadlineMs: 500 } };
  if (kind === "output") return { output: { schema: numbered, name: "number" } };
  return kind === "caller" ? { tools: [{ name: "pick", description: "Lets somebody pick.", input: numbered }] } : {};
};

/** Ignores a stale answer: the call was shown twice, or the receipt of the first answer was lost. */
const unlessAnswered = (error: unknown): void => {
  if (!(error instanceof EventRefusedError && error.refusal.kind === "stale")) throw error;
};
