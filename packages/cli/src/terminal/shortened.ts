/** A text as a part of one line, with its end left out where it is long. */
export const shortened = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= lengthMax ? line : `${line.slice(0, lengthMax - 1)}…`;
};

const lengthMax = 100;
