/** Lines that follow one another and are the same in two texts, or in one of them alone. */
export interface Change {
  readonly type: "same" | "removed" | "added";
  readonly lines: readonly string[];
  /** The lines in whose place these came, or which came in theirs, where they are as many. */
  readonly others?: readonly string[];
}

/** How a text became another one, line by line, with as many lines the same as can be; of long differences all is removed and then added. */
export const changesBetween = (before: readonly string[], after: readonly string[]): readonly Change[] => {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const removed = before.slice(head, before.length - tail);
  const added = after.slice(head, after.length - tail);
  const changes: readonly Change[] = [
    { type: "same", lines: before.slice(0, head) },
    ...(removed.length * added.length > comparedMost
      ? [
          { type: "removed" as const, lines: removed },
          { type: "added" as const, lines: added },
        ]
      : compared(removed, added)),
    { type: "same", lines: before.slice(before.length - tail) },
  ];
  return paired(changes.filter(({ lines }) => lines.length > 0));
};

const comparedMost = 1_000_000;

/** By their longest common subsequence. */
const compared = (before: readonly string[], after: readonly string[]): readonly Change[] => {
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--)
    for (let column = after.length - 1; column >= 0; column--)
      common[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const changes: { type: Change["type"]; lines: string[] }[] = [];
  const push = (type: Change["type"], line: string | undefined): void => {
    const last = changes.at(-1);
    if (last?.type === type) last.lines.push(line ?? "");
    else changes.push({ type, lines: [line ?? ""] });
  };
  for (let row = 0, column = 0; row < before.length || column < after.length;) {
    if (row < before.length && column < after.length && before[row] === after[column]) {
      push("same", before[row++]);
      column += 1;
    } else if (column >= after.length || (row < before.length && at(row + 1, column) >= at(row, column + 1))) {
      push("removed", before[row++]);
    } else push("added", after[column++]);
  }
  return changes;
};

const paired = (changes: readonly Change[]): readonly Change[] =>
  changes.map((change, index) => {
    const other =
      change.type === "removed" ? changes[index + 1] : change.type === "added" ? changes[index - 1] : undefined;
    return other !== undefined && other.type !== "same" && other.lines.length === change.lines.length
      ? { ...change, others: other.lines }
      : change;
  });
