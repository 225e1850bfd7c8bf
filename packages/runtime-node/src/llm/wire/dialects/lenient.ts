import { type Dialect, dialect } from "./dialect.ts";

/** Nothing is changed but what no server takes: arguments that are not an object, ids that repeat, half characters. */
export const lenient: Dialect = dialect("lenient", {
  callIds: "^[^]+$",
  toolNames: "^[^]+$",
  messageNames: "^[^]+$",
  texts: "listed",
  images: "everywhere",
  developers: "own role",
  blank: "sent",
  refusals: "field",
  fields: "all",
  schemas: "as given",
});
