import type { Host } from "@colloquy/host";
import { conversationRoutes } from "./conversations/conversations.ts";
import { openApiRoute } from "./http/openapi.ts";
import type { Route } from "./http/route.ts";
import { serve, type ThreadServer } from "./http/server.ts";
import { type HttpOptions, serverContextOf } from "./http/server-options.ts";
import { responseRoutes } from "./responses/response-routes.ts";
import type { ResponsesOptions } from "./responses/responses-room.ts";
import type { UiOptions } from "./ui/chat.ts";
import { pageErrors, uiRoutes } from "./ui/routes.ts";

/** Options of a thread server. */
export interface ThreadServerOptions extends HttpOptions {
  /** Options for responses, under `/v1/responses`. */
  readonly responses?: ResponsesOptions;
  /** Options for pages of the AI SDK, under `/ui`. */
  readonly ui?: UiOptions;
}

/**
 * Serves the threads of a host over HTTP, as one function from a request to its response. It fits any server or
 * framework that has such requests. It opens no socket, and does not close the host. Its first request calls
 * `host.start()`.
 *
 * @param moreRoutes further routes, with the same authentication and limits.
 * @throws ConfigurationError for an invalid option.
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
    ...uiRoutes(host, context, ui),
    ...moreRoutes,
  ];
  const pages = pageErrors(ui);
  return serve(host, [...routes, openApiRoute(routes, pages.base)], context, pages);
};
