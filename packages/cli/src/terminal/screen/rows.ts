import { type Instance, render, Text, useCursor } from "ink";
import { createElement as h, type FunctionComponent, useLayoutEffect, useRef } from "react";
import type { InkOutput } from "./ink-output.ts";

/** Painted rows, none as wide as the terminal; without a cursor, the cursor is hidden. */
export interface Rows {
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number } | null;
}

/**
 * Starts Ink with these rows first; it then draws only changed rows. `onEnd` runs when Ink exits, also because the
 * process ends or is killed.
 */
export const inkOn = (
  stdout: InkOutput,
  stdin: NodeJS.ReadableStream,
  rows: Rows,
  { alternateScreen = false, onEnd }: { readonly alternateScreen?: boolean; readonly onEnd?: () => void } = {},
): Instance =>
  render(h(Frame, { ...rows, onEnd }), {
    stdout,
    stdin,
    alternateScreen,
    interactive: true,
    incrementalRendering: true,
    patchConsole: false,
    exitOnCtrlC: false,
    isScreenReaderEnabled: false,
    // The screen paces itself, so Ink must draw at once.
    maxFps: 1000,
  });

export const Frame: FunctionComponent<Rows & { readonly onEnd?: (() => void) | undefined }> = ({
  rows,
  cursor,
  onEnd,
}) => {
  const { setCursorPosition } = useCursor();
  setCursorPosition(cursor === null ? undefined : { x: cursor.column, y: cursor.row });
  const end = useRef(onEnd);
  useLayoutEffect(() => () => end.current?.(), []);
  return rows.length === 0 ? null : h(Text, { wrap: "truncate-end" }, rows.map((row) => row || " ").join("\n"));
};
