import type { Line } from "../text/line.ts";
import type { Block } from "../blocks/block.ts";
import { blockLines } from "../blocks/block-lines.ts";
import type { FinishedLines } from "./shown.ts";

/** What is finished: written once, as it was folded then. */
export class Scrollback {
  readonly finished: FinishedLines[] = [];
  /** Whether thinking and the details of tools are shown whole from here on. */
  isUnfolded: boolean;

  constructor(isUnfolded: boolean) {
    this.isUnfolded = isUnfolded;
  }

  add(block: Block): void {
    const unfolded = this.isUnfolded;
    const lines = (columns: number): readonly Line[] => blockLines(block, { columns, unfolded, finished: true });
    this.finished.push({ id: this.finished.length, lines });
  }

  /** Blocks as lines, folded as it is now. */
  linesOf(blocks: readonly Block[], columns: number, finished: boolean): readonly Line[] {
    const look = { columns, unfolded: this.isUnfolded, finished };
    return blocks.flatMap((block) => blockLines(block, look));
  }
}
