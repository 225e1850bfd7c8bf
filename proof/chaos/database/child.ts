// Uses a store at full speed until it is killed. `target.ts` starts this process.
import { writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

import { LeaseLostError } from "@colloquy/host/store";

import { type FolderPlace, openStore } from "../../kit/places.ts";
import { randomOf } from "../../kit/random.ts";
import { threadIds } from "../store/contents.ts";
import { faultyStore, type lateFaults } from "../store/faults.ts";
import { User } from "../store/user.ts";

export interface ChildOptions {
  readonly place: FolderPlace;
  readonly synchronous: "NORMAL" | "FULL";
  readonly onlyAppends: boolean;
  readonly seed: number;
  readonly boot: number;
  readonly fault: keyof typeof lateFaults | null;
}

/** Far more snapshots than one process saves. */
const numbersApart = 1_000_000;

const main = async ({ place, synchronous, onlyAppends, seed, boot, fault }: ChildOptions): Promise<never> => {
  let number = boot * numbersApart;
  const user = new User({
    store: faultyStore(openStore(place, { synchronous }), fault),
    owner: `writer ${boot}`,
    threadIds,
    random: randomOf(seed),
    // A line of JSON, written synchronously so that it survives this process.
    note: (note) => void writeSync(1, `${JSON.stringify(note)}\n`),
    onlyAppends,
    // Short leases, so that the process after a kill soon gets one.
    leasesMs: [100],
    nextNumber: () => (number += 1),
  });
  for (;;) {
    try {
      if (!(await user.visit())) await delay(1);
    } catch (error) {
      // On a busy machine a lease may expire.
      if (!(error instanceof LeaseLostError)) throw error;
    }
  }
};

// The parent process writes these options.
if (import.meta.main) await main(JSON.parse(process.argv[2] ?? "") as ChildOptions);
