// A configuration for `colloquy compare` and `colloquy explain`: docs/prompts.md shows it.
/* oxlint-disable import/no-default-export -- the commands read it */
import type { MachineOptions } from "@colloquy/machine";
import { tokenWindow } from "@colloquy/machine/policies";

export default {
  policy: tokenWindow({ cutTo: 0.6 }),
  budget: { tokens: 300, reserve: 100 },
} satisfies MachineOptions;
