import type { AskInput, Host, LlmContext, LlmOutcome, Store } from "@colloquy/host";
import { type CallLlm, ConfigurationError } from "@colloquy/machine";
import { compose, keepAll, lastTurns, omitFields, onlyInputs, type Policy } from "@colloquy/machine/policies";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import type { SessionOptions } from "./options.ts";
import { fieldsOf, partsOf } from "../program/fields.ts";
import { memoryOf } from "../program/memory.ts";
import { functionOf, type NestedAskOptions, type Program } from "../program/program.ts";
import { validated } from "../program/signature.ts";

/** The options of any session, its types left aside: what goes in and out was checked by its signature. */
export type AnyOptions = SessionOptions<never, never, object, object>;

/** What all threads of a session share. */
export interface SessionCore {
  readonly options: AnyOptions;
  readonly host: Host;
  /** The program that the next call gets. */
  program: Program<never, object>;
  readonly failures: Map<string, unknown>;
}

/** The parts that run a session: the program is the model of its threads. */
export const sessionCore = (program: Program<never, object>, options: AnyOptions): SessionCore => {
  const store = options.store ?? memoryStore();
  const core: SessionCore = {
    options,
    program,
    failures: new Map(),
    host: createHost({
      ...options.host,
      llm: (call, context) => runProgram(core, store, call, context),
      store,
      machine: {
        policy: policyOf(options),
        interrupted: "omit",
        retry: { attempts: 1 },
        overlap: options.overlap === "reject" ? { type: "reject" } : { type: "queue", max: mostQueued },
      },
      thread: {
        metadata: { program: options.name },
        seed: (options.seed ?? []).flatMap(({ inputs, outputs }) => [
          { role: "user", content: partsOf({ ...inputs }) },
          { role: "assistant", content: partsOf({ ...outputs }) },
        ]),
      },
    }),
  };
  return core;
};

const mostQueued = 1_000;

/** What a prompt shows of a session. */
export const policyOf = ({ maxTurns, excludeFields, onlyInputFields }: AnyOptions): Policy =>
  compose(
    ...(excludeFields === undefined ? [] : [omitFields(excludeFields)]),
    ...(onlyInputFields === undefined ? [] : [onlyInputs(onlyInputFields)]),
    maxTurns === undefined ? keepAll() : lastTurns(maxTurns),
  );

const runProgram = async (
  core: SessionCore,
  store: Store,
  call: CallLlm,
  { signal }: LlmContext,
): Promise<LlmOutcome> => {
  const { options } = core;
  const asked = call.messages.at(-1);
  try {
    const context = {
      memory: memoryOf(call.messages.slice(0, -1)),
      signal,
      threadId: call.threadId,
      turn: call.turn,
      callId: call.id,
      status: () => {},
      partial: () => {},
      ask: (name: string, input: AskInput, { system, seed, tools, ...ask }: NestedAskOptions = {}) => {
        const { llm } = options;
        if (llm === undefined)
          throw new ConfigurationError(`"${options.name}" calls a model; give its session the option llm`);
        const models = createHost({
          ...options.host,
          llm,
          store,
          tools: tools ?? options.tools ?? [],
          thread: {
            ...(system === undefined ? {} : { system }),
            ...(seed === undefined ? {} : { seed }),
            metadata: { parentThread: call.threadId, parentTurn: call.turn, node: name },
          },
        });
        return models.ask(input, { ...ask, threadId: "new" });
      },
    };
    // Inputs were checked by the signature when they were asked.
    const outputs = await functionOf(core.program)(structuredClone(fieldsOf(asked)) as never, context);
    const fields = await validated(`the outputs of "${options.name}"`, options.signature?.outputs, outputs);
    return {
      type: "completed",
      reply: { content: partsOf(fields) },
      finishReason: "stop",
      model: `${options.name}@${options.version ?? "1"}`,
    };
  } catch (thrown) {
    core.failures.set(`${call.threadId}/${call.turn}`, thrown);
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return { type: "failed", failure: { kind: "unknown", message, retryable: false } };
  }
};
