/** Aborted when the process is asked to end, or when nobody reads what it writes any more. The first time only: a second one ends it. */
export const endingOf = (running: NodeJS.Process): AbortSignal => {
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) running.once(signal, () => ending.abort());
  running.stdout.on("error", () => ending.abort());
  return ending.signal;
};
