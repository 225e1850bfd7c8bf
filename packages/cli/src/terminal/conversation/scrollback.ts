import type { Line } from "../text/line.ts";
import type { Block } from "../blocks/block.ts";
import { blockLines } from "../blocks/block-lines.ts";
import type { FinishedLines } from "./shown.ts";

/** The finished lines: written once, with the folding of that moment. */
export class Scrollback {
  readonly finished: FinishedLines[] = [];
  /** Whether thinking and the details of tools are shown whole from now on. */
  isUnfolded: boolean;

  constructor(isUnfolded: boolean) {
    this.isUnfolded = isUnfolded;
  }

  add(block: Block): void {
    const unfolded = this.isUnfolded;
    const lines = (columns: number): readonly Line[] => blockLines(block, { columns, unfolded, finished: true });
    this.finished.push({ id: this.finished.length, lines });
  }

  /** Lays blocks out as lines, with the present folding. */
  linesOf(blocks: readonly Block[], columns: number, finished: boolean): readonly Line[] {
    const look = { columns, unfolded: this.isUnfolded, finished };
    return blocks.flatMap((block) => blockLines(block, look));
  }
}
