import { setTimeout as pause } from "node:timers/promises";

import { StoreError, ThreadHeldError } from "@colloquy/host";
import { LeaseLostError, SequenceConflictError } from "@colloquy/host/store";
import { StorageError } from "@colloquy/runtime-node";
import { LawBroken } from "@colloquy/runtime-test/laws";

/** Returns the outcome of a call. Throws `NeverEnds` if the call takes longer than the limit. */
export const ending = async <A>(name: string, limitMs: number, call: PromiseLike<A>): Promise<A> => {
  let timer: NodeJS.Timeout | undefined;
  const never = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NeverEnds(`${name} did not end within ${limitMs} ms`)), limitMs);
  });
  return Promise.race([call, never]).finally(() => clearTimeout(timer));
};

export class NeverEnds extends Error {}

/** Checks that the server of a store did not answer, so that the call may be retried. */
export const isUnreachable = (error: unknown): boolean => error instanceof StorageError && error.kind === "unreachable";

/** Repeats a call while it fails with an error that may pass, after a pause each time. Returns its outcome. */
export const repeating = async <A>(
  call: () => Promise<A>,
  mayPass: (error: unknown) => boolean,
  pauseMs: number,
  onFailure: (error: unknown) => void = () => undefined,
): Promise<A> => {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!mayPass(error)) throw error;
      onFailure(error);
    }
    await pause(pauseMs);
  }
};

export const eventually = <A>(call: () => Promise<A>): Promise<A> => repeating(call, isUnreachable, 1);

/** Checks for an error of a passing state, such as another host's lease or a failing store. The ask may be repeated. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ThreadHeldError ||
  error instanceof LeaseLostError ||
  error instanceof SequenceConflictError ||
  error instanceof StoreError;

/** Returns the violations that a law reports; empty when it holds. */
export const violationsOfLaw = (check: () => void): readonly string[] => {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof LawBroken) return [error.message];
    throw error;
  }
};

/** Collects uncaught errors and rejections, which would end a process. */
interface Stray {
  readonly noted: readonly string[];
  readonly end: () => void;
}

/** Collects them, instead of ending the process, until `end` is called. */
export const noteStray = (): Stray => {
  const noted: string[] = [];
  const note = (thrown: unknown): void => void noted.push(`uncaught: ${String(thrown)}`);
  process.on("unhandledRejection", note).on("uncaughtException", note);
  return {
    noted,
    end: () => void process.off("unhandledRejection", note).off("uncaughtException", note),
  };
};
