/**
 * The error for a server that could not be reached, or violated the protocol. The message contains no secrets. It
 * leaves out values of `headers` and `env` from 8 characters on, credentials of the URL, and segments of its path from
 * 16 characters on. It has no cause, which could contain them.
 */
export class McpError extends Error {
  override readonly name = "McpError";
}
