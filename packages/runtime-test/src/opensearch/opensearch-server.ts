import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Clock } from "@colloquy/host";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import type { Json } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { virtualClock } from "../ports/virtual-clock.ts";
import { textOfRequest, sendJson, listen } from "../server/http.ts";
import { accepted, type Answer, refusal } from "./answer.ts";
import { conversationRoutes } from "./conversations.ts";
import { memoryRoutes } from "./memories.ts";
import { type Call, problemOfNames, problemOfPage, type Route, routeOf } from "./routes.ts";

/** The versions of the service that `openSearchServer` imitates; the memory API changed between them. */
export const openSearchVersions = ["2.10", "2.11", "2.12", "3.0"] as const;

/** Before 2.12 the memory API had conversations and interactions; since then memories and messages. */
export type OpenSearchVersion = (typeof openSearchVersions)[number];

export interface OpenSearchServerOptions {
  readonly version: OpenSearchVersion;
  /** Default 0: a free port. */
  readonly port?: number;
  /** The setting `plugins.ml_commons.memory_feature_enabled`. Default true. */
  readonly memoryFeatureEnabled?: boolean;
  /**
   * The clock of the written times. Default: one that advances by a millisecond at each write, so that all times
   * differ. On a `virtualClock`, which does not advance by itself, all times are equal.
   */
  readonly clock?: Pick<Clock, "now">;
}

/** A server on this machine that implements the memory API of OpenSearch's machine learning plugin. */
export interface OpenSearchServer {
  /** The URL of the node for clients: `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly port: number;
  /** Stops the server, and closes open sockets at once. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a double of OpenSearch's memory API on 127.0.0.1: conversations and interactions for 2.10 and 2.11; memories,
 * messages, traces and searches from 2.12 on. Order, pages, limits, errors and silently dropped fields are those of the
 * service. Sources: the plugin ml-commons, and the stories of the OpenSearch API specification.
 *
 * A client with basic authentication, with any password, is that user, and has access only to their own memories. A
 * client without it has access to all memories, as on a service without its security plugin. A search is one of
 * `match_all`, `match` and `term`; any other is refused. Relevance is not imitated: each hit scores 1. Rejects if the
 * port is in use, and with a ConfigurationError for invalid options.
 */
export const openSearchServer = async (options: OpenSearchServerOptions): Promise<OpenSearchServer> => {
  checkOptions("openSearchServer", options, optionKinds);
  const { version, port = 0, memoryFeatureEnabled = true, clock = tickingClock() } = options;
  const now = (): string => new Date(clock.now()).toISOString();
  const routes = [infoRoute(version), ...(isLegacy(version) ? conversationRoutes(now) : memoryRoutes(now))];

  const answer = async (incoming: IncomingMessage): Promise<Answer> => {
    const { method = "", url = "/", headers } = incoming;
    // The URL is not parsed, because `URL` would resolve the ids "." and ".." as path segments.
    const [pathname = "", ...query] = url.split("?");
    const searchParams = new URLSearchParams(query.join("?"));
    const text = await textOfRequest(incoming);
    const found = routeOf(routes, method, pathname);
    if (Either.isLeft(found)) return found.left;
    const body = bodyOf(text, headers["content-type"]);
    if (Either.isLeft(body)) return body.left;
    const { route, id } = found.right;
    const call: Call = { id, query: searchParams, body: body.right, user: userOf(headers.authorization) };
    const problem =
      problemOfPage(route, searchParams) ?? route.refuses?.(call) ?? problemOfNames(route, pathname, searchParams);
    if (problem !== null) return problem;
    return memoryFeatureEnabled || route.path === "/" ? route.perform(call) : disabled(version);
  };

  const server = createServer((incoming, response) => {
    answer(incoming).then(
      (answered) => send(response, answered),
      (thrown: unknown) => {
        // The request is incomplete if its client disconnected, or sent too much.
        if (incoming.complete) send(response, refusal(500, "exception", String(thrown)));
        else response.destroy();
      },
    );
  });
  const { port: listening, close } = await listen(server, port);
  return { url: `http://127.0.0.1:${listening}`, port: listening, close, [Symbol.asyncDispose]: close };
};

const optionKinds: OptionKinds<OpenSearchServerOptions> = {
  version: kinds.needed(kinds.oneOf(...openSearchVersions)),
  port: kinds.anything,
  memoryFeatureEnabled: kinds.anything,
  clock: kinds.anything,
};

const isLegacy = (version: OpenSearchVersion): boolean => version === "2.10" || version === "2.11";

/** Returns the route that clients request first, to identify the server. */
const infoRoute = (version: OpenSearchVersion): Route => ({
  methods: ["GET", "HEAD"],
  path: "/",
  perform: () =>
    accepted({
      name: "loopback",
      cluster_name: "loopback",
      version: { distribution: "opensearch", number: `${version}.0` },
      tagline: "The OpenSearch Project: https://opensearch.org/",
    }),
});

const disabled = (version: OpenSearchVersion): Answer =>
  refusal(
    500,
    "exception",
    `The ${isLegacy(version) ? "experimental " : ""}Conversation Memory feature is not enabled. ` +
      "To enable, please update the setting plugins.ml_commons.memory_feature_enabled",
  );

const bodyOf = (text: string, contentType = ""): Either.Either<Answer, Json | undefined> => {
  if (text === "") return Either.right(undefined);
  if (!/^application\/(?:[\w.+-]*\+)?json\b/i.test(contentType)) {
    const error = `Content-Type header [${contentType}] is not supported`;
    return Either.left({ status: 406, body: { error, status: 406 } });
  }
  try {
    // JSON.parse returns JSON.
    return Either.right(JSON.parse(text) as Json);
  } catch (error) {
    return Either.left(refusal(400, "json_parse_exception", error instanceof Error ? error.message : String(error)));
  }
};

const userOf = (authorization: string | undefined): string | null => {
  const encoded = /^basic (.+)$/i.exec(authorization ?? "")?.[1];
  return encoded === undefined ? null : (Buffer.from(encoded, "base64").toString().split(":")[0] ?? null);
};

const send = (response: ServerResponse, { status, body, headers }: Answer): void =>
  sendJson(response, status, body, { "content-type": "application/json; charset=UTF-8", ...headers });

const tickingClock = (): Pick<Clock, "now"> => {
  let at = virtualClock().now();
  return { now: () => at++ };
};
