import { type Dialect, dialect } from "./dialect.ts";

/**
 * Groq.
 * - fields: "'messages.1': property 'reasoning_content' is unsupported"; https://console.groq.com/docs/reasoning (reasoning)
 * - ids: any, such as `functions.weather:0` of Kimi
 */
export const groq: Dialect = dialect("groq", {
  callIds: "^.+$",
  texts: "listed",
  blank: "beside others",
  fields: ["reasoning"],
});
