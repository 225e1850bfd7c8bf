/** The JSON values of a file: one, or one a line. */
export interface JsonValue {
  readonly value: unknown;
  /** The line of a value that has a line for itself; null for the only value of a file. */
  readonly line: number | null;
}

/** Returns the value of each line; empty lines have none. @throws Error that names the first line that is not JSON */
export const jsonLines = (text: string): readonly (JsonValue & { readonly line: number })[] => {
  const lines = text.split("\n").flatMap((content, index) => (content.trim() === "" ? [] : [{ content, index }]));
  if (lines.length === 0) throw new Error("the file is empty");
  return lines.map(({ content, index }) => {
    try {
      const value: unknown = JSON.parse(content);
      return { value, line: index + 1 };
    } catch (thrown) {
      // A program that was stopped while it wrote left no end of line.
      const isCutOff = index > 0 && index === text.split("\n").length - 1;
      const what = isCutOff ? `the last line, ${index + 1}, is cut off` : `line ${index + 1} is not JSON`;
      throw new Error(`${what}: ${JSON.stringify(content.slice(0, 60))}`, { cause: thrown });
    }
  });
};

/** Returns the value of a whole file, or one for each line. @throws Error as `jsonLines` */
export const jsonValues = (text: string): readonly JsonValue[] => {
  const whole = parsed(text);
  return whole === null ? jsonLines(text) : [{ ...whole, line: null }];
};

const parsed = (text: string): { readonly value: unknown } | null => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
};
