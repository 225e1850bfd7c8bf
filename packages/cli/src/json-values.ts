/** A JSON value of a file, which contains one value, or one per line. */
export interface JsonValue {
  readonly value: unknown;
  /** The line of the value; null for the only value of a file. */
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
      // A program that was stopped while it wrote leaves a line without an end.
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
