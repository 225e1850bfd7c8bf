/** A command line in words, as a shell has them: what is quoted is one. No shell runs it. */
export const commandWords = (line: string): readonly string[] =>
  Array.from(line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g), ([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"),
  );
