import type { Host } from "@colloquy/host";
import { openApiRoute } from "./http/openapi.ts";
import type { Route } from "./http/route.ts";
import { serve, type ThreadServer } from "./http/server.ts";
import { type ServerContext, serverContextOf, type ThreadServerOptions } from "./http/server-options.ts";

/** A room of routes. */
export type Routes = (host: Host, context: ServerContext) => readonly Route[];

/**
 * Serves the threads of a host over HTTP, as one function from a request to its response: for any server, or any framework
 * that has such requests. It opens no socket, and does not close the host.
 *
 * @param moreRoutes further routes, behind the same authentication and limits.
 * @throws ConfigurationError for an option that is invalid.
 */
export const threadServer = (
  host: Host,
  options: ThreadServerOptions = {},
  moreRoutes: readonly Route[] = [],
): ThreadServer => {
  const context = serverContextOf(options);
  const routes = [...rooms.flatMap((room) => room(host, context)), ...moreRoutes];
  return serve([...routes, openApiRoute(routes)], context);
};

const rooms: readonly Routes[] = [];
