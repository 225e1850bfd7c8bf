export {
  openSearchServer,
  type OpenSearchServer,
  type OpenSearchServerOptions,
  type OpenSearchVersion,
  openSearchVersions,
} from "./opensearch-server.ts";
