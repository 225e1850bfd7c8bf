import type { OptionNames } from "@colloquy/host/store";

/** How long an answer is waited for. */
export interface WaitOptions {
  /**
   * The longest silence within an answer that has begun, in milliseconds, where the call's own `idleTimeoutMs` does not say.
   * Default 5 minutes; null for none. Comments, pings and empty pieces do not end the silence.
   */
  readonly idleTimeoutMs?: number | null;
  /**
   * How long to wait for the end of a stream, and for its report of usage, after the answer said why it ended, in
   * milliseconds. Default 2 seconds; null for no limit.
   */
  readonly endTimeoutMs?: number | null;
}

/** The same, with defaults. */
export interface Waits {
  readonly idleMs: number | undefined;
  readonly endMs: number | undefined;
}

export const waitOptions: OptionNames<WaitOptions> = { idleTimeoutMs: true, endTimeoutMs: true };

export const waitsOf = ({ idleTimeoutMs = 300_000, endTimeoutMs = 2000 }: WaitOptions): Waits => ({
  idleMs: idleTimeoutMs ?? undefined,
  endMs: endTimeoutMs ?? undefined,
});

/** What is wrong with such an option, or null. */
export const problemOfWaits = (handler: string, given: WaitOptions): string | null => {
  for (const [name, value] of Object.entries(given))
    if (name in waitOptions && value !== undefined && value !== null && !(Number.isSafeInteger(value) && value > 0))
      return `${name} of ${handler} is ${JSON.stringify(value)}; it must be a whole number of milliseconds above 0, or null for no limit`;
  return null;
};
