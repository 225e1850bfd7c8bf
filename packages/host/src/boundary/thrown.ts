/** What a person reads of anything that was thrown, error or not. Total: even a message may throw. */
export const messageOf = (thrown: unknown): string => {
  try {
    // What an error says may be anything: code may have changed it.
    const said: unknown = !(thrown instanceof Error) ? thrown : thrown.message === "" ? thrown.name : thrown.message;
    return typeof said === "string" ? said : (jsonOf(said) ?? String(said));
  } catch {
    return "something that can't be put into words";
  }
};

const jsonOf = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
};

/** Whether a value has members that can be read by name; what they are is not known yet. */
export const isRecord = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
