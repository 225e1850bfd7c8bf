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

/** The part of a `Response` that is read. This package has no types of a platform. */
export interface ErrorAnswer {
  readonly body: {
    getReader(): {
      read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
      cancel(): Promise<void>;
    };
  } | null;
}

/**
 * Returns the beginning of the body of an error, 4,096 characters at most, and cancels the rest: a server may
 * send a body without an end. If the body breaks off, or the signal is aborted, it returns what has come until then.
 */
export const errorTextOf = async ({ body }: ErrorAnswer, signal?: AbortSignal): Promise<string> => {
  if (body === null) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const stop = (): void => void reader.cancel().catch(() => {});
  signal?.addEventListener("abort", stop);
  let text = "";
  try {
    while (text.length < charactersRead && signal?.aborted !== true) {
      const { done, value } = await reader.read();
      if (done || value === undefined) break;
      text += decoder.decode(value.subarray(0, 4 * charactersRead), { stream: true });
    }
  } catch {
    // The status says more than why its body broke off.
  } finally {
    signal?.removeEventListener("abort", stop);
    stop();
  }
  return text.slice(0, charactersRead);
};

/** Returns whether a value has members that can be read by name. The types of the members are still unknown. */
export const isRecord = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Says why something was thrown, and where, without secrets. */
export interface FailureReport {
  /** Returns the secrets that are removed besides everything that looks like one. */
  readonly secrets: () => readonly string[];
  /** Returns why it was thrown, without what looks like a secret and without `secrets`. */
  readonly reasonOf: (thrown: unknown) => string;
  /**
   * Writes an error of a handler, a hook or an observer, with its places in the code. All is redacted like `reasonOf`
   * and without `keys`.
   */
  readonly report: (thrown: unknown, where: string, keys?: readonly string[]) => void;
}

/**
 * Makes a report of failures without secrets.
 *
 * @param secrets removed besides everything that looks like a secret; looked up at each report
 * @param write is called with each report, as one text
 */
export const failureReport = (secrets: () => readonly string[], write: (text: string) => void): FailureReport => ({
  secrets,
  reasonOf: (thrown) => messageOf(thrown, secrets()),
  report: (thrown, where, keys = []) => {
    const all = [...secrets(), ...keys];
    const places = redact(placesOf(thrown), all);
    write(`Colloquy: ${where} failed: ${messageOf(thrown, all)}${places === "" ? "" : `\n${places}`}`);
  },
});

/** Returns the stack lines of an error, or of any other value. Reading them may throw. */
const placesOf = (thrown: unknown): string => {
  try {
    const stack: unknown = thrown instanceof Error ? thrown.stack : undefined;
    const lines = typeof stack === "string" ? stack.split("\n") : [];
    return lines.filter((line) => /^\s+at /.test(line)).join("\n");
  } catch {
    return "";
  }
};
