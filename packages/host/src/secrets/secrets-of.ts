/** Returns the secrets of an application or a model handler, which is foreign code; none if it fails, so that the failure that asks for them is still told. */
export const secretsOf = (
  source: () => readonly string[] | undefined,
  onError: (thrown: unknown) => void = () => {},
): readonly string[] => {
  try {
    // Callers in JavaScript may give anything.
    const given: readonly unknown[] = source() ?? [];
    return given.filter((secret) => typeof secret === "string");
  } catch (thrown) {
    onError(thrown);
    return [];
  }
};
