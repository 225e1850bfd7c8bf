export { loopbackServer, type LoopbackServer, type LoopbackServerOptions } from "./loopback-server.ts";
export type { RecordedRequest } from "./http.ts";
export {
  type Fault,
  recordedHtml,
  recordedJson,
  recordedNothing,
  type RecordedResponse,
  recordedStream,
} from "./recorded-response.ts";
export { type StrictFamily, strictFamilies, type StrictRefusal, strictRefusal } from "./strict/strict-server.ts";
