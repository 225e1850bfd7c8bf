import {
  type Agent,
  AgentFileError,
  agentFromFile,
  agentHost,
  type AgentHost,
  type SubagentCall,
} from "@colloquy/sessions/agents";
import {
  type AskOptions,
  type HostOptions,
  type Observer,
  StoreError,
  type Tool,
  type AskHandle,
  type AskResult,
} from "@colloquy/host";
import {
  type Content,
  contentText,
  type JsonObject,
  type MachineOptions,
  noUsage,
  usageMonoid,
} from "@colloquy/machine";
import { StorageError } from "@colloquy/runtime-node";
import { type ConverseOptions, counted, named, oneLine, tokensOf } from "@colloquy/cli/terminal";
import type { CommandContext } from "./command-context.ts";
import { dspyProgramProblem, isDspyProgram } from "./import-formats.ts";
import { ArgumentError } from "./exit-code.ts";
import type { Provider } from "./models.ts";
import { type Asked, callerOf, type Waiting, type WaitingBelow, waitingOf } from "./turn.ts";
import type { OptionValues } from "./options.ts";
import { readTextFile } from "./text-file.ts";

export type { Agent } from "@colloquy/sessions/agents";

/**
 * Reads the agent of a file. Prints its problems, one per line.
 *
 * @throws ArgumentError for an agent that cannot be used, or that takes more than a text
 */
export const agentOf = async (
  file: string,
  { "allow-tools": allowTools }: Pick<OptionValues, "allow-tools">,
  { errors }: Pick<CommandContext, "errors">,
): Promise<Agent> => {
  try {
    const agent = await agentFromFile(file, { allowTools: allowTools === true });
    inputOf(agent);
    return agent;
  } catch (thrown) {
    if (!(thrown instanceof AgentFileError)) throw thrown;
    if (isDspyProgram(jsonOf(file)))
      throw new ArgumentError(`${named(file)}: ${dspyProgramProblem}`, { cause: thrown });
    for (const line of thrown.message.split("\n")) errors.line(oneLine(line));
    throw new ArgumentError(`the agent in ${named(file)} can't be used`, { cause: thrown });
  }
};

const jsonOf = (file: string): unknown => {
  try {
    return JSON.parse(readTextFile(file));
  } catch {
    return null;
  }
};

/** The host of an agent, and how the chat uses it. */
export interface AgentChat {
  readonly host: AgentHost;
  readonly ask: (input: Content, threadId: string, options: Pick<AskOptions, "model">) => Asked;
  readonly steers: boolean;
  readonly notes: (threadId: string, turn: number) => Promise<readonly string[]>;
  readonly waiting: (threadId: string) => Promise<Waiting>;
  readonly onNestedApproval: Set<() => void>;
}

/** Makes the host in which an agent answers, with additional tools, and the functions that the chat needs. */
export const hostOfAgent = (
  agent: Agent,
  tools: readonly Tool[],
  { handler, model }: Provider,
  { machine, ...parts }: Omit<HostOptions, "machine" | "llm" | "tools"> & { readonly machine: MachineOptions },
  wanted: string | undefined,
  notices: { readonly show: (text: string) => void },
): AgentChat => {
  const onNestedApproval = new Set<() => void>();
  const approval: Observer["approval"] = ({ name, id }, threadId) => {
    for (const listener of onNestedApproval) listener();
    if (onNestedApproval.size > 0) return;
    const words = `  a subagent waits for approval of ${oneLine(name)}: another colloquy chat gives it, by --approve ${named(id)}`;
    // The thread's own approvals are answered in the chat itself.
    void callerOf(host, threadId).then(
      (caller) => caller === threadId || notices.show(words),
      // If the host is closed, the command has ended and does not matter; after any other error, the user must still
      // learn of the approval.
      (error: unknown) => isClosed(error) || notices.show(words),
    );
  };
  const host = agentHost(
    { ...agent, tools: [...agent.tools, ...tools] },
    {
      ...parts,
      machine,
      models: (name) => handler(name ?? model),
      // The error of the ask contains it.
      onObserverError: () => {},
      observers: [{ approval }],
      ...(wanted === undefined ? {} : { model: wanted }),
    },
  );
  return {
    host,
    ask: askOf(host),
    steers: agent.signature === null,
    notes: notesOf(host),
    onNestedApproval,
    waiting: (threadId) => waitingOf(host.thread(threadId), belowOf(host, threadId)),
  };
};

const isClosed = (error: unknown): boolean =>
  error instanceof StoreError && error.cause instanceof StorageError && error.cause.kind === "closed";

/**
 * Returns the function that asks an agent. An agent with a signature gets its one input, and answers with its output;
 * that is shown as text if it is one text.
 */
const askOf = (host: AgentHost): AgentChat["ask"] => {
  const field = inputOf(host.agent);
  const answer = onlyText(host.agent.signature?.outputs);
  return (input, threadId, options) => {
    if (field === null) return host.thread(threadId).ask(input, options);
    const inputs = { [field]: contentText(input) };
    const asked = host.run(inputs, { ...options, threadId });
    return answer === null ? asked : withTextOutput(asked, answer);
  };
};

/** Returns the name of an object's only field, if that is a text; otherwise null. */
const onlyText = (fields: { readonly properties: JsonObject } | undefined): string | null => {
  const [[field, schema] = [], ...others] = Object.entries(fields?.properties ?? {});
  return field !== undefined && others.length === 0 && Reflect.get(Object(schema), "type") === "string" ? field : null;
};

/**
 * Returns the input field for a typed line; null for an agent without a signature.
 *
 * @throws ArgumentError for an agent with other inputs than one text
 */
const inputOf = ({ name, signature }: Agent): string | null => {
  if (signature === null) return null;
  const field = onlyText(signature.inputs);
  if (field !== null) return field;
  const given = Object.entries(signature.inputs.properties)
    .map(([input, type]) => `${input}: ${JSON.stringify(type)}`)
    .join(", ");
  throw new ArgumentError(`the agent "${name}" takes ${given}; a chat can only give it one text`);
};

/** Returns a function that tells what the subagents under a thread wait for. */
const belowOf = (host: AgentHost, threadId: string): WaitingBelow => {
  const below =
    (calls: readonly SubagentCall[], above: readonly string[]): WaitingBelow =>
    async ({ callId }) => {
      const called = calls.find((call) => call.callId === callId);
      // Calls on one nested thread are answered one after the other.
      const call =
        called?.turn === null
          ? calls.find(({ threadId: id, status }) => id === called.threadId && status === "open")
          : called;
      if (call === undefined) return null;
      const [first = call.name, ...names] = above.concat(call.name);
      const thread = host.subagent(first, ...names).thread(call.threadId);
      return call === called
        ? waitingOf(thread, below(call.calls, above.concat(call.name)), [first, ...names].join("/"))
        : { approvals: [], alone: true };
    };
  return async (call) => below(await host.calls(threadId), [])(call);
};

const notesOf =
  (host: AgentHost): NonNullable<ConverseOptions["notes"]> =>
  async (threadId, turn) => {
    const calls = Object.entries(Object.groupBy(await host.calls(threadId, turn), ({ name }) => name));
    return calls.map(([name, of = []]) => `  ${name}: ${counted(of.length, "call")}, ${tokensOf(usageOf(of))}`);
  };

const usageOf = (calls: readonly SubagentCall[]): SubagentCall["usage"] =>
  calls.reduce((sum, { usage }) => usageMonoid.concat(sum, usage), noUsage);

/** Returns a handle to the same ask whose answer is the text of one output field, without the JSON around it. */
const withTextOutput = (asked: AskHandle<JsonObject>, field: string): AskHandle => {
  const result = async (): Promise<AskResult> => {
    const { output, ...turn } = await asked;
    const text = output[field];
    return typeof text === "string" ? { ...turn, text } : turn;
  };
  return {
    get threadId() {
      return asked.threadId;
    },
    askId: asked.askId,
    get cursor() {
      return asked.cursor;
    },
    abort: (reason) => asked.abort(reason),
    // oxlint-disable-next-line unicorn/no-thenable -- a handle is awaited
    then: (onFulfilled, onRejected) => result().then(onFulfilled, onRejected),
    catch: (onRejected) => result().catch(onRejected),
    finally: (onSettled) => result().finally(onSettled),
    async *[Symbol.asyncIterator]() {
      for await (const part of asked) if (part.type !== "text.delta" && part.type !== "output.partial") yield part;
    },
  };
};
