export { connect, type ConnectOptions } from "./connect.ts";
export { type Hub, type HubMessage, memoryHub } from "./hub.ts";
export { serve, type ServeOptions, type Worker } from "./serve.ts";
