/** Splits a command line into words as a shell does: a quoted part is one word. No shell runs it. */
export const commandWords = (line: string): readonly string[] =>
  Array.from(line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g), ([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"),
  );
