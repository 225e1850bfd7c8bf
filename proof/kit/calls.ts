import { LeaseLostError, SequenceConflictError } from "@colloquy/host/store";
import { StoreError, ThreadHeldError } from "@colloquy/host";
import { StorageError } from "@colloquy/runtime-node";
import { LawBroken } from "@colloquy/runtime-test/laws";

/** The outcome of a call. It throws `NeverEnds` when the call takes longer than the limit. */
export const ending = async <A>(name: string, limitMs: number, call: PromiseLike<A>): Promise<A> => {
  let timer: NodeJS.Timeout | undefined;
  const never = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NeverEnds(`${name} did not end within ${limitMs} ms`)), limitMs);
  });
  return Promise.race([call, never]).finally(() => clearTimeout(timer));
};

export class NeverEnds extends Error {}

/** The server of a store did not answer: a call may be tried again. */
export const isUnreachable = (error: unknown): boolean => error instanceof StorageError && error.kind === "unreachable";

/** The outcome of a call that is tried until the server answers. */
export const eventually = async <A>(call: () => Promise<A>): Promise<A> => {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isUnreachable(error)) throw error;
    }
  }
};

/** A host rejects an ask so while another one has the thread, or while its store fails: it may be asked again. */
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
