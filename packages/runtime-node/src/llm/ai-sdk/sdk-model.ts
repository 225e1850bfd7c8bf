import { type LanguageModel, wrapLanguageModel } from "ai";
import { keysOfEnvironment, secretsOfEnvironment } from "../secrets/environment.ts";
import { keysIn, secretsIn, type Sent } from "../secrets/secrets.ts";

/** A model of the AI SDK, as its providers make them. */
export type AiSdkLanguageModel = Exclude<LanguageModel, string>;

type Wrapped = ReturnType<typeof wrapLanguageModel>;

/** What a model of the SDK is called with. */
export type AiCallOptions = Parameters<Wrapped["doStream"]>[0];

type AiStream = Awaited<ReturnType<Wrapped["doStream"]>>["stream"];

/** A piece of what a model of the SDK answers, as its provider has it. */
export type AiStreamPart = AiStream extends ReadableStream<infer Part> ? Part : never;

/**
 * A model that is called with what is wanted in addition, and whose answer is shown piece by piece as its provider gives it:
 * `streamText` parses the arguments of calls and draws ids for answers that have none. An answer ends with the piece that says
 * why it ended, also where its stream goes on.
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
 * Returns the keys of a model, which must not stand in a reply, and what must not stand in an error beside them: what its provider sends as headers, the headers that the handler was given, and the environment
 * variables that are named like a provider's key. Whatever else a provider sends (a key in a query, a signature) is not known.
 */
export const keysOfModel = (
  model: AiSdkLanguageModel,
  headers: Readonly<Record<string, string | undefined>>,
): { readonly keys: () => readonly string[]; readonly secrets: () => readonly string[] } => {
  const sent: Sent[] = sentBy(headers);
  const add = (more: unknown): void => void sent.push(...sentBy(more));
  try {
    // Private in the types of the providers; there is no other way to what they send. Where it is not there, no more is known.
    const { config } = model as { readonly config?: { readonly headers?: (() => unknown) | object } };
    const own: unknown = typeof config?.headers === "function" ? config.headers() : config?.headers;
    if (own instanceof Promise) own.then(add, () => {});
    else add(own);
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
    // Private as well: a text, or a function that makes one for a path.
    const { config } = model as { readonly config?: Readonly<Record<"baseURL" | "baseUrl" | "url", Address>> };
    const address = config?.baseURL ?? config?.baseUrl ?? config?.url;
    const shown = typeof address === "function" ? address({ path: "", modelId: model.modelId }) : address;
    return typeof shown === "string" ? shown : undefined;
  } catch {
    return undefined;
  }
};

type Address = string | ((asked: { readonly path: string; readonly modelId: string }) => unknown) | undefined;

const sentBy = (headers: unknown): Sent[] =>
  Object.entries(headers ?? {}).flatMap(([name, value]: [string, unknown]) =>
    typeof value === "string" ? [{ name, value }] : [],
  );
