/**
 * Returns the secrets of an application or a model handler, which is foreign code. If that fails, returns none, so that
 * the failure in progress is still reported.
 */
export const secretsOf = (
  source: () => readonly string[] | undefined,
  onError: (thrown: unknown) => void = () => {},
): readonly string[] => {
  try {
    // Callers in JavaScript may pass any value.
    const given: readonly unknown[] = source() ?? [];
    return given.filter((secret) => typeof secret === "string");
  } catch (thrown) {
    onError(thrown);
    return [];
  }
};
