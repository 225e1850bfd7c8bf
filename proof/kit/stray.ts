/** Uncaught errors and rejections, which would end a process. */
export interface Stray {
  /** The text of each. */
  readonly noted: readonly string[];
  readonly end: () => void;
}

/** Notes them, instead of ending the process, until `end` is called. */
export const noteStray = (): Stray => {
  const noted: string[] = [];
  const note = (thrown: unknown): void => void noted.push(`uncaught: ${String(thrown)}`);
  process.on("unhandledRejection", note).on("uncaughtException", note);
  return {
    noted,
    end: () => void process.off("unhandledRejection", note).off("uncaughtException", note),
  };
};
