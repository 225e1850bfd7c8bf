import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Clock, LlmHandler } from "@colloquy/host";
import type { JsonObject } from "@colloquy/machine";
import { runningClock } from "../ports/virtual-clock.ts";
import { type AnswerRoute, dialectsOf } from "./dialects.ts";
import { type Endpoint, modelEndpoint } from "./endpoint.ts";
import { sendError, sendJson } from "./json-response.ts";
import { listen } from "./listen.ts";
import { playback } from "./playback.ts";
import { type RecordedRequest, recordRequest, textOfRequest } from "./recorded-request.ts";
import type { RecordedResponse } from "./recorded-response.ts";
import { routeOf } from "./routes.ts";
import type { StopStrings } from "./stop-strings.ts";
import { type StrictFamily, strictRefusal } from "./strict/strict-server.ts";
import { testError } from "./wire-error.ts";

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
