import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import type { Option } from "./options.ts";

const usual = join(import.meta.dirname, "../../../shared/recordings");

/** The folder of recordings, which are others' data and not part of this repository. */
export const recordingsFolder: Option<string> = {
  kind: "positional",
  placeholder: "DIR",
  about: "the folder of recordings (default: COLLOQUY_RECORDINGS, else ../shared/recordings)",
  read: ([given]) => {
    const folder = resolve(given ?? process.env["COLLOQUY_RECORDINGS"] ?? usual);
    if (!existsSync(folder)) throw new RangeError(`there are no recordings: ${folder} does not exist`);
    return folder;
  },
};
