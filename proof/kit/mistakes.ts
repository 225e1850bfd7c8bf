import type { Plugin } from "rolldown";

/** Where a source is made wrong: a text that is there once. */
export interface Mistake {
  /** The end of its path. */
  readonly file: string;
  readonly text: string;
  readonly instead: string;
}

/** Makes sources wrong as they are bundled. @throws Error where one does not have its text once */
export const withMistakes = (mistakes: readonly Mistake[]): Plugin => ({
  name: "mistakes",
  transform: (code, id) => mistakes.filter(({ file }) => id.endsWith(file)).reduce(wrong, code),
});

const wrong = (code: string, { file, text, instead }: Mistake): string => {
  const parts = code.split(text);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times what is to be made wrong: ${text}`);
  return parts.join(instead);
};
