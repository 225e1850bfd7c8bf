// A process ends once; what runs in it is asked to.
/**
 * Aborted when the process is asked to end, or when the reader of its output is gone. Only the first signal aborts it:
 * a second one ends the process.
 */
export const endingOf = (running: NodeJS.Process): AbortSignal => {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) running.once(signal, end);
  running.stdout.on("error", end);
  return ending.signal;
};
