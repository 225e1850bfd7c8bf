export { eventStream, type StreamContext } from "./http/event-stream.ts";
export { type Call, HttpError, type Principal, type Route } from "./http/route.ts";
export type { ThreadServer } from "./http/server.ts";
export type { Authenticate, HttpOptions } from "./http/server-options.ts";
export type { ModelParameters, ResponseRequest } from "./responses/response-request.ts";
export type { ResponsesOptions } from "./responses/responses-room.ts";
export { threadServer, type ThreadServerOptions } from "./thread-server.ts";
