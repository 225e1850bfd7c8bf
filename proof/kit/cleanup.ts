/** Registers a cleanup. */
export type Later = (end: () => Promise<unknown>) => void;

/** Runs the cleanups that `use` registers, newest first, even if `use` fails halfway. */
export const withCleanup = async <A>(use: (later: Later) => Promise<A>): Promise<A> => {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    return await use((end) => void ends.unshift(end));
  } finally {
    for (const end of ends) await end();
  }
};
