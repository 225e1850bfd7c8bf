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
  /** Default 0: one that is free. */
  readonly port?: number;
  /** What a client must send as its bearer token. Default: anything goes. */
  readonly apiKey?: string;
  /** The names that `GET /models` lists. When given, a model refuses any other. */
  readonly models?: readonly string[];
  /**
   * Refuses what servers of this family refuse, with that family's error: `"mistral"`. Default: only what OpenAI's refuses.
   * Use it to test a program against a server that is as strict as the real one.
   */
  readonly strict?: StrictFamily;
  /** For `created`, and for the delays of a model. Default: a `runningClock`, on which delays take no time. */
  readonly clock?: Clock;
}

interface ModelOptions {
  /** Answers each request that is valid: `scriptedModel`, `ruleModel`, or any other. */
  readonly model: LlmHandler;
  /**
   * What a text completion does at a stop string of its request: `honoured` (default) ends before it, `included` ends
   * behind it, as some servers do, and `ignored` goes on.
   */
  readonly stopStrings?: StopStrings;
  /** Where it answers beside the paths of OpenAI, and as which of them: `{ "/generate": "/chat/completions" }`. */
  readonly paths?: Readonly<Record<`/${string}`, AnswerRoute>>;
}

interface RecordedOptions {
  /** Answers to POST requests, in this order, whatever is asked, and under whatever path. */
  readonly recorded: readonly RecordedResponse[];
}

/** A server that speaks OpenAI's protocol, on this machine only. */
export interface LoopbackServer {
  /** What a client takes for its base URL: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  readonly port: number;
  /** What came, oldest first, requests that were refused included. Without the values of secret headers. */
  readonly requests: readonly RecordedRequest[];
  /** Throws if there was a request that nothing was recorded for, or if a recorded response was not used. */
  assertComplete(): void;
  /** Stops, and ends open sockets at once. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a server on 127.0.0.1 that answers as OpenAI's does: `POST /v1/chat/completions`, `/v1/responses` and
 * `/v1/completions`, plain and as server-sent events, and `GET /v1/models`; all without `/v1` as well. Requests are
 * checked as there, and errors have the same shape. So the real SDK, and programs in any language, can be tested against a model that is none.
 *
 * A failure of the model is sent as the response that would have caused it; an error in the test itself (a
 * call that a script does not expect) as a 500 that must not be tried again. The model's signal is aborted when
 * its client goes away. Ids are counted, and times come from the clock. Rejects if the port is taken.
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

/** The endpoint of each route, answered by the model. */
const modelEndpoints = (options: LoopbackServerOptions, clock: Clock): ((route: AnswerRoute) => Endpoint) => {
  if (!("model" in options)) throw new TypeError("a loopback server needs a model, or recorded responses");
  const { model, models, stopStrings = "honoured" } = options;
  const dialects = dialectsOf(stopStrings);
  return (route) => modelEndpoint(dialects[route], model, clock, models);
};

type Listener = (incoming: IncomingMessage, response: ServerResponse, signal: AbortSignal) => Promise<void>;

/** The listener, with a signal for when its client goes away. Whatever goes wrong in it ends only that response. */
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
