import { type JsonObject, messageFromDraft } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";
import {
  type AnswerHead,
  type AnswerStream,
  answerStream,
  type EventSink,
  deltasOf,
  type Dialect,
  headOf,
  wireUsage,
  type Request,
} from "./answer.ts";
import { problemOfOptions, readBody } from "./request-body.ts";
import { eventOfFailure } from "./wire-error.ts";

/** `POST /completions`. A model that answers with more than text fails. */
export const textDialect: Dialect = {
  idPrefix: "cmpl-",
  half: (id) => `{"id":${JSON.stringify(id)},"object":"text_completion","choices":[{"index":0,"te`,
  read: (text) => {
    const read = readBody(requestSchema, text);
    if (Either.isLeft(read)) return read;
    const problem = problemOfOptions(read.right);
    return problem === null ? Either.right(requestOf(read.right)) : Either.left(problem);
  },
};

const stopSchema = z.union([z.string(), z.array(z.string()).max(4, "expected at most 4 stop strings")]);

const requestSchema = z.looseObject({
  model: z.string().min(1),
  prompt: z.union([z.string(), z.tuple([z.string()])], "expected one string"),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  stop: stopSchema.nullish(),
  n: z.int().min(1).max(1, "this server gives one choice").nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: z.int().min(0).nullish(),
});

const requestOf = (read: z.infer<typeof requestSchema>): Request => {
  const { model, prompt, stream, stream_options: options, ...parameters } = read;
  const content = typeof prompt === "string" ? prompt : prompt[0];
  const stops = typeof read.stop === "string" ? [read.stop] : (read.stop ?? []);
  const stopped = (): ((delta: Delta) => string) & { readonly end: () => string } => {
    const text = stoppedText(stops);
    return Object.assign((delta: Delta) => text.push(textOf(delta)), { end: text.end });
  };
  return {
    model,
    messages: [messageFromDraft("1.0", { role: "user", content })],
    // Parsed from JSON, and complete, because the schema keeps unknown fields.
    parameters: parameters as JsonObject,
    whole: (head, outcome) => {
      const next = stopped();
      const text = deltasOf(outcome).map(next).join("") + next.end();
      return {
        ...headOf(head, outcome),
        object: "text_completion",
        choices: [choice(text, outcome.finishReason)],
        ...(outcome.usage === undefined ? {} : { usage: wireUsage(outcome.usage) }),
      };
    },
    stream:
      stream === true
        ? (response, head) => textStream(response, head, stopped(), options?.include_usage === true)
        : null,
  };
};

type Delta = ReturnType<typeof deltasOf>[number];

const textOf = (delta: Delta): string => {
  if (delta.type === "text") return delta.text;
  throw new TypeError(`a text completion is text only, and the model answered with ${delta.type}: script a text`);
};

const choice = (text: string, finishReason: string | null): JsonObject => ({
  text,
  index: 0,
  logprobs: null,
  finish_reason: finishReason,
});

const textStream = (
  response: EventSink,
  head: AnswerHead,
  stopped: ((delta: Delta) => string) & { readonly end: () => string },
  includeUsage: boolean,
): AnswerStream => {
  const write = (about: AnswerHead, fields: JsonObject): void =>
    void response.write(`data: ${JSON.stringify({ ...about, object: "text_completion", ...fields })}\n\n`);
  const withUsage = includeUsage ? { usage: null } : {};
  const say = (text: string): void => {
    if (text !== "") write(head, { choices: [choice(text, null)], ...withUsage });
  };
  return answerStream(response, {
    piece: (delta) => say(stopped(delta)),
    close: (outcome) => {
      say(stopped.end());
      const last = headOf(head, outcome);
      write(last, { choices: [choice("", outcome.finishReason)], ...withUsage });
      if (includeUsage && outcome.usage !== undefined) write(last, { choices: [], usage: wireUsage(outcome.usage) });
      return "data: [DONE]\n\n";
    },
    failed: eventOfFailure,
  });
};

/** Makes a text that comes in pieces and ends at the first stop string, even if that is split across pieces. */
export const stoppedText = (
  stops: readonly string[],
): Readonly<{ push: (piece: string) => string; end: () => string }> => {
  const watched = stops.filter((stop) => stop !== "");
  let held = "";
  let stopped = false;
  return {
    /** Adds a piece. Returns the part that may be sent and was not returned before. */
    push: (piece: string): string => {
      if (stopped) return "";
      held += piece;
      const end = endOfText(held, watched);
      stopped = end !== undefined;
      const given = held.slice(0, end ?? held.length - beginningOf(held, watched));
      held = stopped ? "" : held.slice(given.length);
      return given;
    },
    /** Returns the part that was held back because it might have begun a stop string. */
    end: () => held,
  };
};

/** Returns the index of the first stop string of a text; undefined if it has none. */
const endOfText = (text: string, stops: readonly string[]): number | undefined => {
  const found = stops.map((stop) => text.indexOf(stop)).filter((at) => at !== -1);
  return found.length === 0 ? undefined : Math.min(...found);
};

/** Returns the number of characters at the end that may begin a stop string. */
const beginningOf = (text: string, stops: readonly string[]): number => {
  const longest = Math.max(0, ...stops.map((stop) => stop.length - 1));
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    if (stops.some((stop) => stop.length > length && stop.startsWith(text.slice(-length)))) return length;
  }
  return 0;
};
