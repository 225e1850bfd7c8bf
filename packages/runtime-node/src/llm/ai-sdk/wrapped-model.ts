import { type LanguageModel, wrapLanguageModel } from "ai";

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
