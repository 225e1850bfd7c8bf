/** An invalid configuration: names the value and what would do. Thrown where it is built, never later. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}
