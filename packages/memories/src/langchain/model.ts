import { type LlmContext, type LlmHandler, type LlmOutcome, outputRequest } from "@colloquy/host";
import { type CallLlm, ConfigurationError, type Failure, type ToolDeclaration } from "@colloquy/machine";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { AIMessageChunk } from "@langchain/core/messages";
import { aborted, failureOf, idle } from "./failure.ts";
import { HeardReply } from "./heard.ts";
import { toBaseMessages } from "./messages.ts";
import { piecesWithoutSecrets, secretsOf, withoutSecrets } from "./secrets.ts";

/**
 * A chat model of LangChain as the model of a host: streamed where it streams. It is offered exactly the tools of the call, by
 * `bindTools`, and none for summaries; the call's parameters go as call options, as they are. An output that the call wants
 * is asked for by a tool (`tool`), else in words.
 *
 * Never throws: what goes wrong is an outcome, classified by LangChain's name of it, by HTTP status, or as a failed connection.
 * The model's own secrets (`lc_secrets`) are taken out of outcomes and pieces, however these are cut. The machine
 * retries, so make the model with `maxRetries: 0`.
 *
 * @throws ConfigurationError for what is no chat model.
 */
export const langchainModel = (model: BaseChatModel): LlmHandler => {
  const taken: unknown = model;
  if (typeof taken !== "object" || taken === null || !("stream" in taken))
    throw new ConfigurationError(
      "langchainModel needs a chat model of LangChain, such as new ChatOpenAI({ maxRetries: 0 }); a name or a plain object is none",
    );
  const handler: LlmHandler = async (given, context) => {
    const secrets = secretsOf(model);
    const pieces = piecesWithoutSecrets(secrets, context.onDelta);
    const shown: LlmContext = { ...context, onDelta: pieces.onDelta };
    // No option of LangChain asks all models for an output natively.
    const call =
      given.output?.mode === "native" ? { ...given, output: { ...given.output, mode: "prompted" as const } } : given;
    const asked = outputRequest(call, shown);
    const outcome = await perform(model, asked.call, asked.context);
    pieces.end();
    return asked.read(withoutSecrets(secrets, outcome));
  };
  return Object.assign(handler, { secrets: () => secretsOf(model) });
};

const perform = async (model: BaseChatModel, call: CallLlm, context: LlmContext): Promise<LlmOutcome> => {
  const control = new AbortController();
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => {});
  let stoppedBy: Failure | null = null;
  const stop = (failure: Failure): void => {
    stoppedBy ??= failure;
    control.abort();
    stopped.reject(new Error(failure.message));
  };
  const abort = (): void => stop(aborted);
  if (context.signal.aborted) abort();
  context.signal.addEventListener("abort", abort, { once: true });
  const silence = silenceTimer(call, context, stop);
  const heard = new HeardReply(context.onDelta);
  try {
    control.signal.throwIfAborted();
    const options = { ...call.model, signal: control.signal };
    // A model that does not mind its signal is not waited for.
    const stream = await Promise.race([
      toolsBound(model, call, context.tools).stream(toBaseMessages(call.messages), options),
      stopped.promise,
    ]);
    const pieces = stream[Symbol.asyncIterator]();
    for (;;) {
      const piece = await Promise.race([pieces.next(), stopped.promise]);
      if (piece.done === true) return heard.outcome();
      if (carries(piece.value)) silence.touch();
      heard.add(piece.value);
    }
  } catch (thrown) {
    return { type: "failed", failure: stoppedBy ?? failureOf(thrown, context.clock.now()) };
  } finally {
    silence.end();
    context.signal.removeEventListener("abort", abort);
  }
};

const toolsBound = (model: BaseChatModel, call: CallLlm, tools: readonly ToolDeclaration[]) => {
  if (tools.length === 0) return model;
  if (model.bindTools === undefined)
    throw Object.assign(new Error(`${model.getName()} can't be offered tools: it has no bindTools`), { status: 400 });
  const wire = tools.map(({ name, description, parameters = { type: "object", properties: {} } }) => ({
    type: "function" as const,
    function: { name, parameters, ...(description === undefined ? {} : { description }) },
  }));
  return model.bindTools(wire, call.output?.mode === "tool" ? { tool_choice: "any" } : undefined);
};

/** Whether a piece has anything of an answer: some servers send empty ones to keep a connection open. */
const carries = ({ content, additional_kwargs: more, tool_calls: calls = [], ...rest }: AIMessageChunk): boolean =>
  content.length > 0 || calls.length > 0 || (rest.tool_call_chunks ?? []).length > 0 || Object.keys(more).length > 0;

/** Stops the call when nothing came for as long as it allows. */
const silenceTimer = (
  { idleTimeoutMs: idleMs }: CallLlm,
  { clock }: LlmContext,
  stop: (failure: Failure) => void,
): { readonly touch: () => void; readonly end: () => void } => {
  let end = (): void => {};
  const touch = (): void => {
    end();
    if (idleMs !== undefined) end = clock.wakeAt(clock.now() + idleMs, () => stop(idle(idleMs)));
  };
  touch();
  return { touch, end: () => end() };
};
