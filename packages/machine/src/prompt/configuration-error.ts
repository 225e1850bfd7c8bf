/**
 * The error for an invalid configuration. It names the value and a valid one, and is thrown when the configuration is
 * built, never later.
 */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}
