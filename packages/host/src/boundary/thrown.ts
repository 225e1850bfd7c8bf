import { charactersRead, redact } from "../secrets/redact.ts";

/**
 * Returns the message of anything that was thrown, error or not, without what looks like a secret and without the given
 * secrets. It has at most 4,096 characters. Never throws: even reading a message may.
 */
export const messageOf = (thrown: unknown, secrets: readonly string[] = []): string => {
  const whole = wholeMessageOf(thrown);
  return `${redact(whole, secrets)}${whole.length > charactersRead ? "…" : ""}`;
};

const wholeMessageOf = (thrown: unknown): string => {
  try {
    // The message of an error may be of any type: code may have changed it.
    const message: unknown = !(thrown instanceof Error) ? thrown : thrown.message === "" ? thrown.name : thrown.message;
    return typeof message === "string" ? message : (jsonOf(message) ?? String(message));
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
