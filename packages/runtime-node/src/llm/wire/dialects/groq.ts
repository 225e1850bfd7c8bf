import { type Dialect, dialect } from "./dialect.ts";

/**
 * Groq.
 * - fields: "'messages.1': property 'reasoning_content' is unsupported"; https://console.groq.com/docs/reasoning (reasoning)
 * - texts: "for 'role:tool' the following must be satisfied[('messages.6.content' : value must be a string)]"
 * - ids: any, such as `functions.weather:0` of Kimi
 */
export const groq: Dialect = dialect("groq", {
  callIds: "^.+$",
  developers: "own role",
  blank: "beside others",
  fields: ["reasoning"],
});
