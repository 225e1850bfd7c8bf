import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Clock, LlmHandler } from "@colloquy/host";
import { type JsonObject, type Message, messagesFromSeed } from "@colloquy/machine";
import { runningClock } from "../ports/virtual-clock.ts";
import { type Endpoint, modelEndpoint } from "./endpoint.ts";
import { sendError, sendJson } from "./json-response.ts";
import { listen } from "./listen.ts";
import { type RecordedRequest, recordRequest, textOfRequest } from "./recorded-request.ts";
import { type RecordedResponse, sendRecorded } from "./recorded-response.ts";
import type { StopStrings } from "./stop-strings.ts";
import { type StrictFamily, strictRefusal } from "./strict/strict-server.ts";
import { testError, invalidRequest, type WireError } from "./wire-error.ts";
import type { Dialect, Request } from "./answer.ts";
import { responsesDialect } from "./responses-dialect.ts";
import { textDialect } from "./text-completion.ts";
import { fromChatMessage } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import { chatCompletion } from "./chat-completion.ts";
import { type ChatRequest, parseChatRequest } from "./chat-request.ts";
import { chatStream } from "./chat-stream.ts";

export type LoopbackServerOptions = CommonOptions & (ModelOptions | RecordedOptions);

interface CommonOptions {
  /** Default 0: a free port. */
  readonly port?: number;
  /** The required bearer token. Default: any or none. */
  readonly apiKey?: string;
  /** The names that `GET /models` lists. If given, requests for any other model are refused. */
  readonly models?: readonly string[];
  /**
   * Refuses what servers of this family refuse, with that family's errors: `"mistral"`. Default: only what OpenAI's
   * server refuses. Use it to test a program against a server that is as strict as the real one.
   */
  readonly strict?: StrictFamily;
  /** The clock of `created` and of a model's delays. Default: a `runningClock`, on which delays take no time. */
  readonly clock?: Clock;
}

interface ModelOptions {
  /** The model that answers each valid request: `scriptedModel`, `ruleModel`, or any other. */
  readonly model: LlmHandler;
  /**
   * The behaviour of a text completion at a stop string of its request. `honoured` (default) ends before it, `included`
   * ends after it, as some servers do, and `ignored` continues.
   */
  readonly stopStrings?: StopStrings;
  /**
   * More paths beside those of OpenAI, each with the path that it stands for: `{ "/generate": "/chat/completions" }`.
   */
  readonly paths?: Readonly<Record<`/${string}`, AnswerRoute>>;
}

interface RecordedOptions {
  /** The answers to POST requests, in this order, for any request and path. */
  readonly recorded: readonly RecordedResponse[];
}

/** A server on this machine that speaks OpenAI's protocol. */
export interface LoopbackServer {
  /** The base URL for clients: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  readonly port: number;
  /** The received requests, oldest first, refused ones included. Without the values of secret headers. */
  readonly requests: readonly RecordedRequest[];
  /** Throws if a request had no recorded response left, or if a recorded response was not used. */
  assertComplete(): void;
  /** Stops the server, and closes open sockets at once. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a server on 127.0.0.1 that answers as OpenAI's does: `POST /v1/chat/completions`, `/v1/responses` and
 * `/v1/completions`, plain and as server-sent events, and `GET /v1/models`. All paths also work without `/v1`. Requests
 * are checked as by OpenAI, and errors have the same shape. So the real SDK, and programs in any language, can be
 * tested without a real model.
 *
 * A failure of the model is sent as the response that would have caused it. An error in the test itself (a call that a
 * script does not expect) is sent as a 500 that must not be retried. The model's signal is aborted when its client
 * disconnects. Ids are numbered, and times come from the clock. Rejects if the port is in use.
 */
export const loopbackServer = async (options: LoopbackServerOptions): Promise<LoopbackServer> => {
  const { apiKey, models, strict, clock = runningClock(), port = 0 } = options;
  const recorded = "recorded" in options ? playback(options.recorded) : null;
  const paths = "model" in options ? (options.paths ?? {}) : {};
  const endpointFor = recorded === null ? modelEndpoints(options, clock) : () => recorded.endpoint;
  const requests: RecordedRequest[] = [];

  const answer: Listener = async (incoming, response, signal) => {
    const text = await textOfRequest(incoming);
    const request = recordRequest(requests.length + 1, incoming, text);
    requests.push(request);
    response.setHeader("x-request-id", `req_${request.number}`);
    const { authorization } = incoming.headers;
    const route = routeOf(request.method, request.path, authorization, { apiKey, paths, anyPath: recorded !== null });
    if (typeof route === "object") sendError(response, route);
    else if (route === "models") sendJson(response, 200, modelList(models ?? ["loopback"], clock));
    else {
      const refusal = strict === undefined ? null : strictRefusal(strict, text);
      if (refusal === null) await endpointFor(route)(request, response, signal);
      else sendJson(response, refusal.status, refusal.body);
    }
  };

  const server = createServer(guarded(answer));
  const { port: listening, close } = await listen(server, port);
  return {
    url: `http://127.0.0.1:${listening}/v1`,
    port: listening,
    requests,
    assertComplete: () => recorded?.assertComplete(),
    close,
    [Symbol.asyncDispose]: close,
  };
};

/** Returns the endpoint of each route, answered by the model. */
const modelEndpoints = (options: LoopbackServerOptions, clock: Clock): ((route: AnswerRoute) => Endpoint) => {
  if (!("model" in options)) throw new TypeError("a loopback server needs a model, or recorded responses");
  const { model, models, stopStrings = "honoured" } = options;
  const dialects = dialectsOf(stopStrings);
  return (route) => modelEndpoint(dialects[route], model, clock, models);
};

type Listener = (incoming: IncomingMessage, response: ServerResponse, signal: AbortSignal) => Promise<void>;

/**
 * Wraps a listener, with a signal that is aborted when its client disconnects. An error in the listener ends only that
 * response.
 */
const guarded =
  (listener: Listener) =>
  (incoming: IncomingMessage, response: ServerResponse): void => {
    const gone = new AbortController();
    response.on("close", () => {
      if (!response.writableFinished) gone.abort(new Error("the client went away"));
    });
    listener(incoming, response, gone.signal).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy();
      else sendError(response, testError(error instanceof Error ? error.message : String(error)));
    });
  };

const modelList = (models: readonly string[], clock: Clock): JsonObject => {
  const created = Math.floor(clock.now() / 1000);
  return { object: "list", data: models.map((id) => ({ id, object: "model", created, owned_by: "loopback" })) };
};

/** Recorded responses, sent in their order. */
interface Playback {
  readonly endpoint: Endpoint;
  /** Throws if a request had no response left, or if a response was not used. */
  readonly assertComplete: () => void;
}

/** Answers the first request with the first response, and so on. */
const playback = (recorded: readonly RecordedResponse[]): Playback => {
  let asked = 0;
  return {
    endpoint: async (_, response) => {
      const recording = recorded[asked++];
      if (recording === undefined) sendError(response, testError(beyond(asked, recorded.length)));
      else await sendRecorded(recording, response);
    },
    assertComplete: () => {
      if (asked > recorded.length) throw new Error(beyond(asked, recorded.length));
      if (asked < recorded.length) {
        throw new Error(
          `${recorded.length - asked} of ${recorded.length} recorded responses were not used, from number ${asked + 1} on: ` +
            "take them out, or find out why the requests did not come",
        );
      }
    },
  };
};

const beyond = (asked: number, recorded: number): string =>
  `request ${asked} came, and ${recorded === 1 ? "one response was" : `${recorded} responses were`} recorded: ` +
  "record one more, or find out why it was sent (a client that tries again by itself?)";

/** The purpose of a request. */
type Route = AnswerRoute | "models";

/** Returns the purpose of a request, or the error that refuses it before its body is read. */
const routeOf = (
  method: string,
  path: string,
  authorization: string | undefined,
  rules: {
    readonly apiKey: string | undefined;
    readonly paths: Readonly<Record<string, AnswerRoute>>;
    readonly anyPath: boolean;
  },
): Route | WireError => {
  if (rules.apiKey !== undefined && authorization !== `Bearer ${rules.apiKey}`) return unauthorised(authorization);
  const plain = plainPath(path);
  if (plain === "/models") return method === "GET" ? "models" : notAllowed(method, path, "GET");
  const further = Object.entries(rules.paths).find(([known]) => plainPath(known) === plain)?.[1];
  // Recorded responses answer any path.
  const anyOther = rules.anyPath ? "/chat/completions" : undefined;
  const route = answerRoutes.find((known) => known === plain) ?? further ?? anyOther;
  if (route === undefined) return { ...invalidRequest(`Invalid URL (${method} ${path})`, null), status: 404 };
  return method === "POST" ? route : notAllowed(method, path, "POST");
};

/** Returns a path without a query and without `/v1`. */
const plainPath = (path: string): string => path.replace(/\?.*$/s, "").replace(/^\/v1(?=\/)/, "");

const unauthorised = (authorization: string | undefined): WireError => ({
  ...invalidRequest(
    authorization === undefined
      ? "You didn't provide an API key. Send it in an Authorization header: 'Authorization: Bearer YOUR_KEY'."
      : "Incorrect API key provided. It must be the one that the server was started with.",
    null,
    "invalid_api_key",
  ),
  status: 401,
});

const notAllowed = (method: string, path: string, allowed: string): WireError => ({
  ...invalidRequest(`Not allowed to ${method} on ${path}: only ${allowed}.`, null, "method_not_supported"),
  status: 405,
  headers: { allow: allowed },
});

/** Returns the dialects of the server, by path. */
const dialectsOf = (stopStrings: StopStrings): Readonly<Record<AnswerRoute, Dialect>> => ({
  "/chat/completions": chatDialect,
  "/responses": responsesDialect(),
  "/completions": textDialect(stopStrings),
});

/** The paths under which a model answers. */
type AnswerRoute = (typeof answerRoutes)[number];

const answerRoutes = ["/chat/completions", "/responses", "/completions"] as const;

/** `POST /chat/completions` */
const chatDialect: Dialect = {
  idPrefix: "chatcmpl-",
  half: (id) => `{"id":${JSON.stringify(id)},"object":"chat.completion","choices":[{"index":0,"mess`,
  read: (text) =>
    Either.chain((request: ChatRequest) => Either.map(answered(request))(messagesOfWire(request)))(
      parseChatRequest(text),
    ),
};

const answered =
  ({ model, parameters, stream, includeUsage }: ChatRequest) =>
  (messages: readonly Message[]): Request => ({
    model,
    messages,
    parameters,
    whole: chatCompletion,
    stream: stream ? (response, head) => chatStream(response, head, includeUsage) : null,
  });

const messagesOfWire = ({ messages }: ChatRequest): Either.Either<WireError, readonly Message[]> => {
  const drafts = [];
  for (const [index, message] of messages.entries()) {
    const draft = fromChatMessage(message);
    if (Either.isLeft(draft)) return Either.left(invalidRequest(draft.left, `messages[${index}]`, "invalid_value"));
    drafts.push(draft.right);
  }
  return Either.mapLeft((reason: string) => invalidRequest(reason, "messages", "invalid_value"))(
    messagesFromSeed(0, drafts),
  );
};
