/** The seconds since now, each time it is called. */
export const stopwatch = (): (() => string) => {
  const started = performance.now();
  return () => ((performance.now() - started) / 1000).toFixed(1);
};

/** Prints the first violations. Where there are any, this process fails. */
export const printViolations = (violations: readonly string[]): void => {
  for (const violation of violations.slice(0, violationsShown)) console.error(`  ${violation}`);
  if (violations.length > violationsShown) console.error(`  and ${violations.length - violationsShown} more`);
  if (violations.length > 0) process.exitCode = 1;
};

const violationsShown = 10;

/** `1 violation`, `2 violations`. */
export const count = (number: number, noun: string): string =>
  `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/** Returns the text of a thrown value. */
export const wordsOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
