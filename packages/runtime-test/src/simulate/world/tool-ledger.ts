/** The runs of tools, under their idempotency keys. */
export class ToolLedger {
  readonly runs: Map<string, ToolRun[]> = new Map();

  begin(key: string, run: Omit<ToolRun, "returned">): ToolRun {
    const begun: ToolRun = { ...run, returned: undefined };
    const runs = this.runs.get(key);
    if (runs === undefined) this.runs.set(key, [begun]);
    else runs.push(begun);
    return begun;
  }

  of(key: string): readonly ToolRun[] {
    return this.runs.get(key) ?? [];
  }
}

export interface ToolRun {
  readonly tool: string;
  readonly process: string;
  /** The returned value; undefined until the tool returns. */
  returned: unknown;
}
