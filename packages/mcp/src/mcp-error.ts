/**
 * A server could not be reached, or did not answer as the protocol has it. The message has no secrets: values of `headers`
 * and `env` from 8 characters on, credentials of the URL, and segments of its path from 16 on, are taken out. It has no
 * cause, which could hold them.
 */
export class McpError extends Error {
  override readonly name = "McpError";
}
