import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Clock, LlmHandler } from "@colloquy/host";
import { type JsonObject, type Message, type CallLlm, type Failure, digestOfPrompt } from "@colloquy/machine";
import { runningClock } from "../ports/virtual-clock.ts";
import { sendError, sendJson, listen, type RecordedRequest, recordRequest, textOfRequest } from "./http.ts";
import { type RecordedResponse, sendRecorded } from "./recorded-response.ts";
import { textDialect } from "./text-completion.ts";
import { type StrictFamily, strictRefusal } from "./strict/strict-server.ts";
import { testError, invalidRequest, type WireError, errorOfFailure } from "./wire-error.ts";
import type { Dialect, AnswerHead, AnswerStream } from "./answer.ts";
import { responsesDialect } from "./responses-dialect.ts";
import * as Either from "fp-ts/lib/Either.js";
import { chatDialect } from "./chat-dialect.ts";

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

const modelEndpoints = (options: LoopbackServerOptions, clock: Clock): ((route: AnswerRoute) => Endpoint) => {
  if (!("model" in options)) throw new TypeError("a loopback server needs a model, or recorded responses");
  const { model, models } = options;
  const dialects: Readonly<Record<AnswerRoute, Dialect>> = {
    "/chat/completions": chatDialect,
    "/responses": responsesDialect(),
    "/completions": textDialect,
  };
  return (route) => modelEndpoint(dialects[route], model, clock, models);
};

type Listener = (incoming: IncomingMessage, response: ServerResponse, signal: AbortSignal) => Promise<void>;

/** Gives a listener a signal that its client has disconnected. An error in it ends only that response. */
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

const playback = (recorded: readonly RecordedResponse[]) => {
  let asked = 0;
  const endpoint: Endpoint = async (_, response) => {
    const recording = recorded[asked++];
    if (recording === undefined) sendError(response, testError(beyond(asked, recorded.length)));
    else await sendRecorded(recording, response);
  };
  return {
    endpoint,
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
): AnswerRoute | "models" | WireError => {
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

type AnswerRoute = (typeof answerRoutes)[number];

const answerRoutes = ["/chat/completions", "/responses", "/completions"] as const;

/** Answers a request; `signal` is aborted when the client disconnects. */
type Endpoint = (request: RecordedRequest, response: ServerResponse, signal: AbortSignal) => Promise<void>;

/** Answers a POST of one dialect with a model. With `models`, refuses any other name as unknown. */
const modelEndpoint =
  (dialect: Dialect, model: LlmHandler, clock: Clock, models: readonly string[] | undefined): Endpoint =>
  async ({ number, text }, response, signal) => {
    const read = dialect.read(text);
    if (Either.isLeft(read)) return sendError(response, read.left);
    const request = read.right;
    if (models?.includes(request.model) === false) return sendError(response, unknownModel(request.model));

    const parameters = { ...request.parameters, model: request.model };
    const created = Math.floor(clock.now() / 1000);
    const head: AnswerHead = { id: `${dialect.idPrefix}${number}`, created, model: request.model };
    const stream = request.stream?.(response, head) ?? null;
    const onDelta = stream?.send ?? ((): void => undefined);
    try {
      const outcome = await model(callOf("loopback", number, request.messages, parameters), {
        signal,
        onDelta,
        clock,
        tools: [],
      });
      if (signal.aborted) return;
      if (outcome.type === "failed") sendFailure(outcome.failure, stream, response, dialect.half(head.id));
      else if (stream === null) sendJson(response, 200, request.whole(head, outcome));
      else stream.complete(outcome);
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      if (stream?.started() === true) stream.fail({ kind: "unknown", message: reason, retryable: false });
      else sendError(response, testError(reason));
    }
  };

/** @param half what is sent of an answer that breaks off */
const sendFailure = (failure: Failure, stream: AnswerStream | null, response: ServerResponse, half: string): void => {
  if (stream !== null && (stream.started() || failure.kind === "truncated")) stream.fail(failure);
  else if (failure.kind === "network") response.destroy();
  else if (failure.kind === "truncated") response.writeHead(200, { "content-type": "application/json" }).end(half);
  else sendError(response, errorOfFailure(failure));
};

/** Returns the first call of a turn as a machine would request it. */
export const callOf = (threadId: string, turn: number, messages: readonly Message[], model: JsonObject): CallLlm => ({
  type: "callLlm",
  id: `${threadId}/${turn}.1#1`,
  threadId,
  turn,
  step: 1,
  attempt: 1,
  purpose: "answer",
  messages,
  promptDigest: digestOfPrompt(messages),
  model,
});

const unknownModel = (name: string): WireError => ({
  ...invalidRequest(`The model '${name}' does not exist or you do not have access to it.`, null, "model_not_found"),
  status: 404,
});
