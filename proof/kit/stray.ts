/** What is thrown where nobody catches it, which would end a process. */
export interface Stray {
  /** In words. */
  readonly noted: readonly string[];
  readonly end: () => void;
}

/** Notes it in place of ending the process, until its end. */
export const noteStray = (): Stray => {
  const noted: string[] = [];
  const note = (thrown: unknown): void => void noted.push(`nobody caught ${String(thrown)}`);
  process.on("unhandledRejection", note).on("uncaughtException", note);
  return {
    noted,
    end: () => void process.off("unhandledRejection", note).off("uncaughtException", note),
  };
};
