import { type LanguageModel, wrapLanguageModel } from "ai";
import { keysIn, keysOfEnvironment, secretsIn, secretsOfEnvironment, type Sent } from "../secrets/secrets.ts";

/** A model of the AI SDK, as its providers make them. */
export type AiSdkLanguageModel = Exclude<LanguageModel, string>;

type Wrapped = ReturnType<typeof wrapLanguageModel>;

/** The options of a call of a model of the SDK. */
export type AiCallOptions = Parameters<Wrapped["doStream"]>[0];

type AiStream = Awaited<ReturnType<Wrapped["doStream"]>>["stream"];

/** A piece of an answer, as the provider gives it. */
export type AiStreamPart = AiStream extends ReadableStream<infer Part> ? Part : never;

/**
 * Returns a model that is called with more options, and whose answer is shown piece by piece as its provider gives it:
 * `streamText` parses the arguments of calls and invents ids for answers without one. An answer ends with the piece that says
 * why it ended, even if its stream continues.
 */
export const watchedModel = (
  model: AiSdkLanguageModel,
  wanted: Partial<AiCallOptions>,
  onPart: (part: AiStreamPart) => void,
): Wrapped =>
  wrapLanguageModel({
    model,
    middleware: {
      transformParams: ({ params }) => Promise.resolve({ ...params, ...wanted }),
      wrapStream: async ({ doStream }) => {
        const { stream, ...result } = await doStream();
        const watching = new TransformStream<AiStreamPart, AiStreamPart>({
          transform: (part, controller) => {
            onPart(part);
            controller.enqueue(part);
            if (part.type === "finish") controller.terminate();
          },
        });
        return { ...result, stream: stream.pipeThrough(watching) };
      },
    },
  });

/**
 * Returns the keys of a model, which no reply may show, and the secrets that no error may show either: from the headers of its
 * provider and of the handler, and from the environment. Other secrets of a provider (a key in a query, a signature) are unknown.
 */
export const keysOfModel = (
  model: AiSdkLanguageModel,
  headers: Readonly<Record<string, string | undefined>>,
): { readonly keys: () => readonly string[]; readonly secrets: () => readonly string[] } => {
  const sent: Sent[] = [];
  const add = (more: unknown): void => {
    for (const [name, value] of Object.entries(more ?? {}) as [string, unknown][])
      if (typeof value === "string") sent.push({ name, value });
  };
  add(headers);
  try {
    const { headers: own } = configOf(model);
    const sending: unknown = typeof own === "function" ? own() : own;
    if (sending instanceof Promise) sending.then(add, () => {});
    else add(sending);
  } catch {
    // A provider without its key says so when it is called.
  }
  return {
    keys: () => [...keysIn(sent), ...keysOfEnvironment()],
    secrets: () => [...secretsIn(sent), ...secretsOfEnvironment()],
  };
};

/** Returns where the requests of a model go; undefined if its provider does not show it. */
export const addressOf = (model: AiSdkLanguageModel): string | undefined => {
  try {
    const { baseURL, baseUrl, url } = configOf(model);
    const address = baseURL ?? baseUrl ?? url;
    const shown = typeof address === "function" ? address({ path: "", modelId: model.modelId }) : address;
    return typeof shown === "string" ? shown : undefined;
  } catch {
    return undefined;
  }
};

type Address = string | ((asked: { readonly path: string; readonly modelId: string }) => unknown) | undefined;

type Config = { readonly headers?: (() => unknown) | object } & Partial<
  Readonly<Record<"baseURL" | "baseUrl" | "url", Address>>
>;

/** Private in the types of the providers, and the only way to what they send. A provider without it shows nothing. */
const configOf = (model: AiSdkLanguageModel): Config => (model as { readonly config?: Config }).config ?? {};
