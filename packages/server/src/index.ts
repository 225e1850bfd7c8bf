export { eventStream, type StreamContext } from "./http/event-stream.ts";
export { type Call, HttpError, type Principal, type Route } from "./http/route.ts";
export type { ThreadServer } from "./http/server.ts";
export type { Authenticate, ThreadServerOptions } from "./http/server-options.ts";
export { threadServer } from "./thread-server.ts";
