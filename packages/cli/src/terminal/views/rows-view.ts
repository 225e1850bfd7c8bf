import { line, type Line, span } from "../text/line.ts";
import { lineWidth, wrapped } from "../text/wrap.ts";
import { textView } from "./scrolling-view.ts";
import type { View } from "./view.ts";

/** Returns a view of names and descriptions, side by side, or one below the other if there is no room. */
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

/** Narrower descriptions are easier to read below their names. */
const leastBeside = 30;
