import type { LlmContext, LlmHandler, LlmOutcome } from "@colloquy/host";
import { type OptionNames, problemOfOptions } from "@colloquy/host/store";
import { type CallLlm, ConfigurationError, type JsonObject, type ToolDeclaration } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import { jsonSchema, type ModelMessage, streamText, tool, type ToolSet } from "ai";
import { aborted, type FailureSetting } from "../failure/failure.ts";
import { problemOfValues, type WaitOptions, waitsOf } from "../transport/options.ts";
import { runningCall } from "../transport/running-call.ts";
import { wired, wireFor, type WireOptions } from "../wire/wired.ts";
import { AiAnswer } from "./answer.ts";
import { failureOfAiError } from "./failure.ts";
import { type AiRequest, aiRequest } from "./request.ts";
import { addressOf, type AiSdkLanguageModel, keysOfModel, watchedModel } from "./sdk-model.ts";

export type { AiSdkLanguageModel } from "./sdk-model.ts";

/** `idleTimeoutMs` counts from the request on: a provider may read the first pieces before it shows one. */
export interface AiSdkModelOptions extends Pick<WaitOptions, "idleTimeoutMs"> {
  /** Options for providers, by provider, as the AI SDK has them. Those of a call's parameters stand over them. */
  readonly providerOptions?: { readonly [provider: string]: JsonObject };
  /** HTTP headers that go with each request. */
  readonly headers?: { readonly [name: string]: string };
  /** What the model takes of messages and tools. Default: chosen by the names of provider and model. */
  readonly dialect?: WireOptions["dialect"];
}

/**
 * Calls any model of the AI SDK, by its `streamText`: one step, always streamed, without retries (the machine retries) and
 * without running a tool (the host runs them). Reasoning goes back with its signatures; what a provider ran by itself, and the
 * files that it made, are kept and go back; sources are kept for UI messages.
 *
 * The model is offered exactly the tools of the call, and none for summaries. An output that the call wants is asked for by
 * `responseFormat` (`native`), by a tool that has to be called (`tool`), or in words (`prompted`).
 *
 * Any piece of the answer that is not empty counts as a sign of life for `idleTimeoutMs`. A model that ignores its cancellation is abandoned.
 * Keys that are known (what the provider sends as headers, `headers`, environment variables named like a provider's key) are taken out of reply,
 * pieces and failures. Redirects are the business of the `fetch` that the provider was given.
 *
 * @throws ConfigurationError for what is no model, the id of one too, and for an option that there is none of
 */
export const aiSdkModel = (model: AiSdkLanguageModel, given: AiSdkModelOptions = {}): LlmHandler => {
  const problem =
    problemOfModel(model) ?? problemOfOptions("aiSdkModel", given, optionNames) ?? problemOfValues("aiSdkModel", given);
  if (problem !== null) throw new ConfigurationError(problem);
  const { providerOptions, headers = {}, dialect, ...waits } = frozenCopy({ ...given });
  const { idleMs } = waitsOf(waits);
  const wireOf = wireFor(
    {
      baseURL: model.provider,
      address: addressOf(model),
      options: { model: model.modelId, ...(dialect === undefined ? {} : { dialect }) },
    },
    "ai-sdk",
  );
  const handler = wired({
    name: "aiSdkModel",
    wireOf,
    request: (call, offered, { wire }) => aiRequest(call, offered, { modelId: model.modelId, providerOptions, wire }),
    perform: (request, call, context) => perform({ model, headers, idleMs }, request, call, context),
  });
  return Object.assign(handler, { secrets: keysOfModel(model, headers).keys });
};

const optionNames: OptionNames<AiSdkModelOptions> = {
  providerOptions: true,
  headers: true,
  dialect: true,
  idleTimeoutMs: true,
};

const problemOfModel = (model: unknown): string | null => {
  if (typeof model === "string")
    return `aiSdkModel: ${JSON.stringify(model)} is the id of a model, and the gateway that it would go to is named nowhere: give gateway(${JSON.stringify(model)}) of "ai", or the model of a provider, such as anthropic("…")`;
  const isModel = typeof model === "object" && model !== null && "doStream" in model;
  return isModel ? null : 'aiSdkModel needs a language model of the AI SDK, such as anthropic("…")';
};

interface Connection {
  readonly model: AiSdkLanguageModel;
  readonly headers: Readonly<Record<string, string>>;
  /** The longest silence within an answer, where the call does not say. */
  readonly idleMs: number | undefined;
}

const perform = async (
  { model, headers, idleMs }: Connection,
  request: AiRequest,
  call: CallLlm,
  context: LlmContext,
): Promise<LlmOutcome> => {
  const known = keysOfModel(model, headers);
  const secrets = (): readonly string[] => [...known.keys(), ...known.secrets()];
  const setting = (): FailureSetting => ({ now: context.clock.now(), secrets: secrets() });
  const running = runningCall(call, context, { idleMs, endMs: undefined }, known.keys);
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

/** Without a function to run them: the step ends with what is called. */
const toolsOf = (tools: readonly ToolDeclaration[]): ToolSet =>
  Object.fromEntries(
    tools.map(({ name, description, parameters }) => [
      name,
      tool({
        ...(description === undefined ? {} : { description }),
        inputSchema: jsonSchema(parameters ?? {}),
      }),
    ]),
  );
