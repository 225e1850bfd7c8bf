import type { Host } from "@colloquy/host";
import { conversationRoutes } from "./conversations/conversations.ts";
import { openApiRoute } from "./http/openapi.ts";
import type { Route } from "./http/route.ts";
import { serve, type ThreadServer } from "./http/server.ts";
import { type HttpOptions, serverContextOf } from "./http/server-options.ts";
import { responseRoutes } from "./responses/response-routes.ts";
import type { ResponsesOptions } from "./responses/responses-room.ts";
import type { UiOptions } from "./ui/chat.ts";
import { uiRoutes } from "./ui/routes.ts";

/** How threads are served. */
export interface ThreadServerOptions extends HttpOptions {
  /** How responses are asked for and kept, under `/v1/responses`. */
  readonly responses?: ResponsesOptions;
  /** What pages of the AI SDK are served with, under `/ui`. */
  readonly ui?: UiOptions;
}

/**
 * Serves the threads of a host over HTTP, as one function from a request to its response: for any server, or any framework
 * that has such requests. It opens no socket, and does not close the host. Its first request calls `host.start()`.
 *
 * @param moreRoutes further routes, behind the same authentication and limits.
 * @throws ConfigurationError for an option that is invalid.
 */
export const threadServer = (
  host: Host,
  { responses, ui, ...options }: ThreadServerOptions = {},
  moreRoutes: readonly Route[] = [],
): ThreadServer => {
  const context = serverContextOf(options);
  const routes = [
    ...responseRoutes(host, context, responses),
    ...conversationRoutes(host, context),
    ...uiRoutes(host, ui),
    ...moreRoutes,
  ];
  return serve(host, [...routes, openApiRoute(routes)], context);
};
