import type { LlmContext, LlmHandler, LlmOutcome } from "@colloquy/host";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import { type CallLlm, ConfigurationError, type JsonObject, type ToolDeclaration } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import { jsonSchema, type ModelMessage, streamText, tool, type ToolSet } from "ai";
import * as Either from "fp-ts/lib/Either.js";
import { aborted, badRequest, type FailureSetting } from "../failure/failure.ts";
import { defined } from "../json/loose-json.ts";
import { waitKind } from "../transport/connection.ts";
import { runningCall, type WaitOptions } from "../transport/running-call.ts";
import { checkDialect } from "../wire/check-dialect.ts";
import { handlerOnWire, wireFor, type WireOptions } from "../wire/handler-on-wire.ts";
import { AiAnswer, failureOfAiError } from "./answer.ts";
import { type AiRequest, aiRequest } from "./request.ts";
import { addressOf, type AiSdkLanguageModel, keysOfModel, watchedModel } from "./sdk-model.ts";

/** `idleTimeoutMs` counts from the request on: a provider may read the first pieces before it shows one. */
export interface AiSdkModelOptions extends Pick<WaitOptions, "idleTimeoutMs"> {
  /** Options for providers, by provider, as the AI SDK has them. Those of a call's parameters override them. */
  readonly providerOptions?: { readonly [provider: string]: JsonObject };
  /** HTTP headers that go with each request. */
  readonly headers?: { readonly [name: string]: string };
  /** The dialect of the model: a name, or a dialect of your own. Default: chosen by the names of provider and model. */
  readonly dialect?: WireOptions["dialect"];
}

/**
 * Calls any model of the AI SDK, by its `streamText`: one step, always streamed, without retries (the machine retries) and
 * without running a tool (the host runs them). Reasoning goes back with its signatures, as do the files that a provider made
 * and the calls that it ran itself; sources are kept for UI messages.
 *
 * The model is offered exactly the tools of the call, and none for summaries. A wanted output is asked for by
 * `responseFormat` (`native`), by a tool that has to be called (`tool`), or by an instruction (`prompted`).
 *
 * Each piece of the answer that is not empty is a sign of life for `idleTimeoutMs`. A model that ignores its cancellation is
 * abandoned. Known keys (of the provider's headers, of `headers`, of environment variables named like a provider's key) are
 * removed from reply, pieces and failures. The `fetch` of the provider decides about redirects.
 *
 * @throws ConfigurationError if `model` is not a model, or the id of one, and for an unknown or invalid option
 */
export const aiSdkModel = (model: AiSdkLanguageModel, given: AiSdkModelOptions = {}): LlmHandler => {
  checkModel(model);
  checkOptions("aiSdkModel", given, optionKinds);
  checkDialect("aiSdkModel", given.dialect);
  const { providerOptions, headers = {}, dialect, ...waits } = frozenCopy({ ...given });
  const { modelId, provider } = model;
  const handler = handlerOnWire({
    name: "aiSdkModel",
    wireOf: wireFor(
      { baseURL: provider, address: addressOf(model), options: { model: modelId, ...(dialect && { dialect }) } },
      "ai-sdk",
    ),
    perform: async (call, context, wire) => {
      const request = aiRequest(call, context.tools, { modelId, providerOptions, wire });
      if (Either.isLeft(request)) return badRequest(request.left);
      return perform(model, { headers, ...waits }, request.right, call, context);
    },
  });
  return Object.assign(handler, { secrets: keysOfModel(model, headers).keys });
};

const optionKinds: OptionKinds<AiSdkModelOptions> = {
  providerOptions: kinds.object,
  headers: kinds.object,
  dialect: kinds.anything,
  idleTimeoutMs: waitKind,
};

const checkModel = (model: unknown): void => {
  if (typeof model === "string")
    throw new ConfigurationError(
      `aiSdkModel: ${JSON.stringify(model)} is the id of a model, and the gateway that it would go to is named nowhere: give gateway(${JSON.stringify(model)}) of "ai", or the model of a provider, such as anthropic("…")`,
    );
  if (typeof model !== "object" || model === null || !("doStream" in model))
    throw new ConfigurationError('aiSdkModel needs a language model of the AI SDK, such as anthropic("…")');
};

const perform = async (
  model: AiSdkLanguageModel,
  { headers = {}, ...waits }: Pick<AiSdkModelOptions, "headers" | "idleTimeoutMs">,
  request: AiRequest,
  call: CallLlm,
  context: LlmContext,
): Promise<LlmOutcome> => {
  const known = keysOfModel(model, headers);
  const secrets = (): readonly string[] => [...known.keys(), ...known.secrets()];
  const setting = (): FailureSetting => ({ now: context.clock.now(), secrets: secrets() });
  const running = runningCall(call, context, waits, known.keys);
  const { signal } = running;
  const answer = new AiAnswer(model.modelId, running.onDelta);
  const errors: unknown[] = [];
  const watched = watchedModel(model, request.wanted, (part) => {
    if (!("delta" in part) || part.delta !== "") running.touch();
    if (!signal.aborted) answer.add(part);
  });
  const interrupted = (): LlmOutcome => {
    if (context.signal.aborted) return answer.failed(aborted);
    if (errors.length > 0) return answer.failed(failureOfAiError(errors[0], setting()));
    return answer.failed(running.silence() ?? aborted);
  };
  const answered = async (): Promise<LlmOutcome> => {
    // The SDK would call the model.
    if (signal.aborted) return interrupted();
    running.begin();
    const result = streamText({
      ...request.settings,
      model: watched,
      // Plain JSON of the shapes that the SDK reads, and it reads them again.
      messages: request.messages as unknown as ModelMessage[],
      allowSystemInMessages: true,
      maxRetries: 0,
      abortSignal: signal,
      headers,
      // Options of a provider are an object, and the provider reads them.
      providerOptions: request.providerOptions as Record<string, JsonObject>,
      ...(request.tools.length === 0 ? {} : { tools: toolsOf(request.tools) }),
      // They are read from the stream, and not written to the console.
      onError: () => {},
    });
    for await (const part of result.fullStream) if (part.type === "error") errors.push(part.error);
    if (errors.length > 0 || signal.aborted) return interrupted();
    return answer.finished ? answer.outcome((await result.response).messages) : answer.outcome([]);
  };
  const stopped = new Promise<LlmOutcome>((resolve) => {
    if (signal.aborted) resolve(interrupted());
    else signal.addEventListener("abort", () => resolve(interrupted()), { once: true });
  });
  try {
    const outcome = await Promise.race([
      stopped,
      answered().catch((thrown: unknown) => {
        errors.push(thrown);
        return interrupted();
      }),
    ]);
    running.abort();
    return running.filtered(outcome, secrets());
  } finally {
    running.close();
  }
};

/** Returns tools without a function: the step ends with their calls. */
const toolsOf = (tools: readonly ToolDeclaration[]): ToolSet =>
  Object.fromEntries(
    tools.map(({ name, description, parameters = {} }) => [
      name,
      tool({ ...defined({ description }), inputSchema: jsonSchema(parameters) }),
    ]),
  );
