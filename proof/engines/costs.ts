import { readFileSync } from "node:fs";

/** The costs of processes so far. */
export interface Costs {
  readonly cpuMs: number;
  /** Bytes that went to the disk, or will: what the kernel counts as written. */
  readonly writtenBytes: number;
}

export const noCosts: Costs = { cpuMs: 0, writtenBytes: 0 };

export const plus = (one: Costs, other: Costs): Costs => ({
  cpuMs: one.cpuMs + other.cpuMs,
  writtenBytes: one.writtenBytes + other.writtenBytes,
});

/** Returns the costs of a process, from Linux; none on other systems, or if the process is gone. */
export const costsOf = (pid: number): Costs => {
  try {
    // Behind the name, which may hold anything: the 14th and 15th field are its time in user and system mode.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /su, "")
      .split(" ");
    const written = /^write_bytes: (\d+)$/mu.exec(readFileSync(`/proc/${pid}/io`, "utf8"));
    return {
      cpuMs: (Number(fields[11]) + Number(fields[12])) * tickMs,
      writtenBytes: Number(written?.[1] ?? 0),
    };
  } catch {
    return noCosts;
  }
};

const tickMs = 10;

/** The value below which such a share of the values lies; 0 without any. */
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) * share)] ?? 0;
