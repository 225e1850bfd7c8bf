/** Remembers what has to be ended. */
export type Later = (end: () => Promise<unknown>) => void;

/** Uses what has to be ended afterwards, the newest first, whatever becomes of it: also where not all of it could be started. */
export const withCleanup = async <A>(use: (later: Later) => Promise<A>): Promise<A> => {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    return await use((end) => void ends.unshift(end));
  } finally {
    for (const end of ends) await end();
  }
};
