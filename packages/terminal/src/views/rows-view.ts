import { line, type Line, span } from "../text/line.ts";
import { lineWidth, wrapped } from "../text/wrap.ts";
import { textView } from "./scrolling-view.ts";
import type { View } from "./view.ts";

/** Names and what is said of each, beside each other, or below where there is no room for that. */
export const rowsView = (title: string, rows: readonly (readonly [name: string, says: string])[]): View => {
  const width = Math.max(...rows.map(([name]) => lineWidth(line(name)))) + 2;
  return textView(title, (columns) => {
    const beside = columns >= width + leastBeside;
    const indent = beside ? width : 2;
    return rows.flatMap(([name, says]): readonly Line[] => {
      const [first = [], ...rest] = wrapped(line(says), columns - indent);
      const below = (beside ? rest : [first, ...rest]).map((row) => [span(" ".repeat(indent)), ...row]);
      const names = beside ? [[span(name.padEnd(width), "prompt"), ...first]] : wrapped(line(name, "prompt"), columns);
      return [...names, ...below];
    });
  });
};

/** Narrower texts are better read below their names. */
const leastBeside = 30;
